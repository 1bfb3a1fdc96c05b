"""Authentication, TLS and quotas."""
