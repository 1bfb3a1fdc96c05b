"""The table of service-level objectives, measured against a real server: `dev/bench slo`."""
