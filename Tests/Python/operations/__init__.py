"""Settings, shutdown, telemetry, workers and deployment."""
