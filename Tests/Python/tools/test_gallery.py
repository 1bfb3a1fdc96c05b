"""The gallery's pictures, and the pages that show them."""

import json
import re

from sidelight_testing.command import sidelight
from sidelight_testing.contract import REPOSITORY, frame_filter


def test_the_pictures_of_the_committed_page_exist():
    committed = (REPOSITORY / "docs/reference/filters.md").read_text()
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", committed)
    assert pictures
    assert [each for each in pictures if not (REPOSITORY / "docs/reference" / each).is_file()] == []
    gallery = (REPOSITORY / "docs/reference/gallery.md").read_text()
    for anchor in re.findall(r"\(gallery\.md#([^)]+)\)", committed):
        assert re.search(rf"^### {anchor}$", gallery, flags=re.MULTILINE | re.IGNORECASE), anchor


def test_every_filter_is_drawn(stub):
    gallery = (REPOSITORY / "docs/reference/gallery.md").read_text()
    drawn = set(re.findall(r"^### (.+)$", gallery, flags=re.MULTILINE))
    listed = stub.ListFilters(frame_filter.ListFiltersRequest(), timeout=60).filters
    # Analyses have no visible effect.
    expected = {each.name for each in listed if each.category != "analysis"}
    # The committed gallery has all filters, also those that this build lacks.
    every = json.loads(sidelight("filters", "--json", "--all").stdout)["filters"]
    lacking = {each["name"] for each in every} - {each.name for each in listed} - {"faceDetection"}
    assert drawn == expected | lacking, "run make gallery where Vision is built"
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", gallery):
        assert (REPOSITORY / "docs/reference" / picture).is_file(), picture
