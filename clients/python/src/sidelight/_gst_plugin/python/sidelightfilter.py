"""The file that GStreamer's loader of Python plug-ins reads."""

from sidelight.gst import __gstelementfactory__
