"""The benchmark of the studio: latency from the camera to the screen, and a newcomer's first steps."""
