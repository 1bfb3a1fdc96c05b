"""The table of promises, each row measured against a real server: `dev/promises`."""
