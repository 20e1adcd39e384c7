"""Reports on a run: one HTML page, JUnit XML, CSV tables, a FHIR MeasureReport: `klartext harness report`."""
