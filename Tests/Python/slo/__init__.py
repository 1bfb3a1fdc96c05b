"""The table of service-level objectives, each measured against a real server: `dev/bench slo`."""
