"""Filters for `sidelight serve`, in a process of Python.

    import numpy as np
    from sidelight.filters_server import filter, serve

    @filter("invert", summary="Inverts colours.", format="rgb")
    def invert(picture: np.ndarray) -> None:
        np.subtract(255, picture, out=picture)

    serve()

Start it with `sidelight serve --filter-process 'python3 filters.py'`. It needs numpy.
"""

from __future__ import annotations

from .._values import RGBA
from ..events import Detection
from ._definitions import Format, analysis, face_finder, filter, matte
from ._metadata import Face, FrameContext, Results
from ._parameters import Range
from ._process import serve

__all__ = [
    "RGBA",
    "Detection",
    "Face",
    "Format",
    "FrameContext",
    "Range",
    "Results",
    "analysis",
    "face_finder",
    "filter",
    "matte",
    "serve",
]
