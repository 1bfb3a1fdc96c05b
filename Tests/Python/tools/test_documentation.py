"""The pipelines in the documentation: their filters and parameters exist."""

import re

import grpc
import pytest

from sidelight_testing.command import sidelight
from sidelight_testing.contract import REPOSITORY, frame_filter

PAGES = [
    "README.md",
    "docs/guides/assets.md",
    "docs/guides/backgrounds.md",
    "docs/guides/faces.md",
    "docs/reference/protocol.md",
]


@pytest.fixture(scope="module")
def names() -> set[str]:
    """The names of all filters, also of those that this build lacks."""
    page = sidelight("filters", "--markdown").stdout.decode()
    return set(re.findall(r"^### (.+)$", page, flags=re.MULTILINE))


def pipelines(page: str, names: set[str]) -> list[str]:
    """The pipelines in blocks, in spans of code and on command lines."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    rest = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"--pipeline(?:-at \d+=)? ?'([^']+)'", page)
    found += [line for language, block in blocks if not language for line in block.splitlines()]
    found += re.findall(r"`([^`]+)`", rest)
    first_name = re.compile(r"(?:\w+: )?(\w+)[(,\s@]")
    return [
        text for text in found
        if "..." not in text and (first := first_name.match(text)) and first[1] in names
    ]


@pytest.mark.parametrize("name", PAGES)
def test_the_pipelines_of_a_page_are_valid(stub, names, name):
    found = pipelines((REPOSITORY / name).read_text(), names)
    assert found or "protocol" in name
    for text in found:
        try:
            stub.CheckPipeline(frame_filter.CheckPipelineRequest(text=text), timeout=10)
        except grpc.RpcError as error:
            # Assets are the reader's, and OpenCV may be missing.
            is_missing = "there is no asset named" in error.details()
            assert is_missing or error.code() == grpc.StatusCode.FAILED_PRECONDITION, (
                f"{text}: {error.details()}"
            )


def test_the_guides_of_vision_show_pipelines(names):
    for page, least in [("backgrounds", 3), ("faces", 3)]:
        text = (REPOSITORY / f"docs/guides/{page}.md").read_text()
        assert len(pipelines(text, names | {"virtualBackground", "overlay"})) >= least
