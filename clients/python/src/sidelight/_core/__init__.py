"""The core of a session without I/O: both faces drive it, and neither decides anything."""
