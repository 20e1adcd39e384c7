"""The service: JSON API, REST channel, health and metrics. Nothing here is imported before `klartext serve` runs."""
