"""A filter of a program in Python, from the file to the picture."""

import sys

import pytest

from studiotesting.studio import Studio

PROGRAM = """
import numpy as np
from sidelight.filters_server import filter, serve

@filter("negate", summary="Inverts colours.", format="rgb")
def negate(picture: np.ndarray) -> None:
    np.subtract(255, picture, out=picture)

serve()
"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    file = tmp_path_factory.mktemp("filters") / "filters.py"
    file.write_text(PROGRAM)
    with Studio("--filter-process", f"{sys.executable} {file}") as running:
        yield running


def test_a_filter_in_python_changes_the_picture(page):
    page.use_camera("negate")
    page.wait_for_picture("c.red[0] < 60 && c.gray[0] < 90")
