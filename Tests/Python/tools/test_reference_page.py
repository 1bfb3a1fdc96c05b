"""docs/reference/filters.md and `sidelight filters`, compared with ListFilters."""

import re

import grpc
import pytest

from sidelight_testing.command import sidelight
from sidelight_testing.contract import REPOSITORY, catalogue, frame_filter

UNESCAPED = re.compile(r"\\([\\`*_<\[|~])")


@pytest.fixture(scope="module")
def page() -> str:
    return (REPOSITORY / "docs/reference/filters.md").read_text()


@pytest.fixture(scope="module")
def sections(page) -> dict[str, str]:
    """The page's section of every filter."""
    parts = re.split(r"^### (.+)$", page, flags=re.MULTILINE)[1:]
    return {
        name: UNESCAPED.sub(r"\1", text.split("\n## ")[0])
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def listed(stub):
    return stub.ListFilters(frame_filter.ListFiltersRequest(), timeout=60).filters


def test_every_filter_that_a_server_lists_is_on_the_page_once(stub, page, sections):
    names = [each.name for each in listed(stub)]
    headings = re.findall(r"^### (.+)$", page, flags=re.MULTILINE)
    assert sorted(headings) == sorted(sections)
    # The others need a part that this build may lack.
    others = [name for name in sections if name not in names]
    assert sorted([*names, *others]) == sorted(headings)
    assert all("- Needs: a server that is built with " in sections[name] for name in others)


def test_the_page_matches_the_server(stub, sections):
    for each in listed(stub):
        text = sections[each.name]
        fidelity = catalogue.Fidelity.Name(each.fidelity).removeprefix("FIDELITY_").lower()
        assert each.summary in text and each.formula in text
        assert f"- Fidelity: {fidelity}\n" in text
        assert ("one pixel; fused" in text) == (each.reach == catalogue.REACH_PIXEL)
        rows = [line for line in text.splitlines() if line.startswith("| `")]
        assert len(rows) == len(each.parameters)
        for described, row in zip(each.parameters, rows, strict=True):
            assert row.startswith(f"| `{described.name}` | ") and described.summary in row
            assert ("| required |" in row) == (not described.HasField("default_value"))


def test_the_terminal_page_matches_the_server(stub):
    for each in listed(stub):
        words = " ".join(sidelight("filters", each.name).stdout.decode().split())
        assert " ".join(each.summary.split()) in words
        assert " ".join(each.formula.split()) in words
        for described in each.parameters:
            assert f"{described.name}: {described.summary}" in words


def test_the_examples_of_a_filter_are_pipelines_that_end_with_it(stub):
    shown = [each for each in listed(stub) if each.examples]
    assert len(shown) > 40
    for each in shown:
        for example in each.examples:
            assert example.stages[-1].filter.name == each.name
            try:
                stub.CheckPipeline(
                    frame_filter.CheckPipelineRequest(pipeline=example), timeout=60
                )
            except grpc.RpcError as refused:
                # The gallery's pictures are not on the server, nor are models.
                assert re.search("no asset named|not available", refused.details()), refused


def test_the_text_forms_are_pipelines(stub, sections):
    names = [each.name for each in listed(stub)]
    for name, text in sections.items():
        (form,) = re.findall(r"```\n(.+)\n```", text)
        assert form.partition("(")[0] == name
        request = frame_filter.CheckPipelineRequest(text=form)
        if name not in names:
            with pytest.raises(grpc.RpcError, match="is not available: ") as refused:
                stub.CheckPipeline(request, timeout=60)
            assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION
        elif ".png" in form or ".cube" in form:
            with pytest.raises(grpc.RpcError, match="there is no asset named"):
                stub.CheckPipeline(request, timeout=60)
        else:
            (stage,) = stub.CheckPipeline(request, timeout=60).pipeline.stages
            assert stage.filter.name == name


def test_the_contents_lead_to_every_heading(page):
    links = re.findall(r"\]\(#([^)]+)\)", page)
    headings = re.findall(r"^##+ (.+)$", page, flags=re.MULTILINE)
    assert sorted(links) == sorted(
        re.sub(r"[^a-z0-9 ]", "", heading.lower()).replace(" ", "-") for heading in headings
    )
