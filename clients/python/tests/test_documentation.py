"""The programs in README.md and docs/: every page's programs run, in order, against a server."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import page as programs
from support.running_server import REPOSITORY

PACKAGE = Path(__file__).resolve().parents[1]
PAGES = sorted([PACKAGE / "README.md", *PACKAGE.glob("docs/*.md")])
# Optional packages of the programs on a page.
REQUIRED = {"conversions.md": ["numpy", "av", "PIL"]}
# The programs of bridges need calls, and the programs of TLS certificates; other tests run them.
NOT_RUN = {"bridges.md", "tls.md"}
RUN = [
    page
    for page in PAGES
    if page.name not in NOT_RUN and programs.BLOCK.search(page.read_text())
]


def names(pages):
    return [str(page.relative_to(PACKAGE)) for page in pages]


@pytest.mark.parametrize("page", RUN, ids=names(RUN))
def test_the_programs_of_a_page_run(page, address, tmp_path):
    for package in REQUIRED.get(page.name, []):
        pytest.importorskip(package)
    shutil.copy(REPOSITORY / "Examples/media/portrait.jpg", tmp_path)
    finished = subprocess.run(
        [sys.executable, programs.__file__, page, address],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert finished.returncode == 0, finished.stderr


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_quick_start_has_ten_lines():
    program = programs.BLOCK.search((PACKAGE / "README.md").read_text())[1]
    assert len([line for line in program.splitlines() if line.strip()]) <= 10
