"""The service: page, JSON API, REST channel, health, metrics. Nothing here is imported before `klartext serve` runs."""
