"""The file that GStreamer's loader of Python plug-ins reads."""

import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("sidelight") is None:
    # The loader runs the system's Python; the package may be in a virtual environment of it.
    sys.path.append(str(Path(__file__).resolve().parents[3]))

from sidelight.gst import __gstelementfactory__

__all__ = ["__gstelementfactory__"]
