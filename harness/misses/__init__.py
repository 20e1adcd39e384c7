"""What a run got wrong, grouped by cause, with proposals for curators: `klartext harness errors`."""
