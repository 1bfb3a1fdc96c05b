"""The benchmark of the studio: camera to screen, and the first steps of a newcomer."""
