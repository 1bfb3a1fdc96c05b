"""The pipelines in documentation, help, pages and examples: they are valid, and have an effect."""

import concurrent.futures
import os
import shutil
import tempfile

import numpy as np
import PIL.Image
import pytest

from sidelight_testing import documented
from sidelight_testing.command import sidelight
from sidelight_testing.contract import REPOSITORY

MEDIA = REPOSITORY / "Examples/media"
# Shown with their error message.
INVALID = {
    r"vignette,\n  sepiaTome(intensity: 1)",
    'kernel(source: "mix(color.rgb, vec3(lumma(color)), 0.5)")',
}
CUBE = "LUT_3D_SIZE 2\n" + "".join(
    f"{blue} {green} {red}\n" for blue in (0, 1) for green in (0, 1) for red in (0, 1)
)
KERNEL = """kernel glow "Dims colour."
param intensity: 0.5 in 0..1
return color.rgb * intensity
"""
# Need a model or a filter process with that matte.
MODELS = {
    "backgroundBlur(matte: person)", "backgroundBlur(matte: dark)",
    "virtualBackground(matte: person)",
    "virtualBackground(matte: person, backgroundColor: #1e3c50)",
}


@pytest.fixture(scope="module")
def catalogue():
    return documented.Catalogue()


@pytest.fixture(scope="module")
def examples(catalogue) -> dict[str, list[str]]:
    return documented.pipelines(catalogue)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a portrait next to a green screen, also in dim light and half transparent."""
    folder = tmp_path_factory.mktemp("pictures")
    picture = np.asarray(PIL.Image.open(MEDIA / "portrait.jpg").convert("RGB")).copy()
    picture[:, -60:] = (0, 177, 64)
    PIL.Image.fromarray(picture).save(folder / "in.png")
    dim = (picture * [0.5, 0.4, 0.25]).astype(np.uint8)
    PIL.Image.fromarray(dim).save(folder / "dim.png")
    clear = np.dstack([picture, np.full(picture.shape[:2], 128, np.uint8)])
    PIL.Image.fromarray(clear).save(folder / "clear.png")
    return folder


def provide(folder, name: str, parameter: str, text: str) -> None:
    """Puts a file of that name into the folder."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    if path.exists():
        return
    if "colorCube(" in text:
        path.write_text(CUBE)
    elif "kernel(" in text:
        path.write_text(KERNEL)
    elif parameter == "fontAsset":
        shutil.copy("/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf", path)
    else:
        default = "gradient.jpg" if parameter == "maskImage" else "office.jpg"
        source = documented.media(name) or MEDIA / default
        if path.suffix == ".png" and source.suffix == ".jpg":
            # Some filters combine pictures by their alpha alone.
            picture = PIL.Image.open(source).convert("RGB")
            picture.putalpha(PIL.Image.linear_gradient("L").resize(picture.size))
            picture.save(path)
        else:
            shutil.copy(source, path)


def pixels(file) -> np.ndarray:
    with PIL.Image.open(file) as picture:
        return np.asarray(picture.convert("RGBA"))


def test_every_pipeline_has_an_effect(catalogue, examples, folder, has_vision):
    assert len(examples) > 40 and sum(map(len, examples.values())) > 200
    texts = sorted({each for texts in examples.values() for each in texts} - INVALID - MODELS)
    for text in texts:
        for name, parameter in documented.assets_of(text, catalogue).items():
            provide(folder, name, parameter, text)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as commands:
        found = commands.map(lambda text: idleness(catalogue, text, folder, has_vision), texts)
    problems = []
    for text, problem in zip(texts, found):
        if problem:
            places = [place for place, pipelines in examples.items() if text in pipelines]
            problems.append(f"{text}\n  in {', '.join(places)}: {problem}")
    assert not problems, "\n".join(problems)


def idleness(catalogue, text: str, folder, has_vision: bool) -> str | None:
    """The reason why a pipeline has no effect; `None` if it has one."""
    try:
        said = sidelight("check", "-p", text, cwd=folder).stderr.decode()
    except AssertionError as error:
        return None if "built without Vision" in str(error) else str(error)
    if said:
        return said
    if text.endswith("@off") or text.partition("(")[0] in catalogue.analyses:
        return None
    for name in ("in", "dim", "clear"):
        with tempfile.NamedTemporaryFile(suffix=".png") as result:
            sidelight("apply", f"{name}.png", result.name, "-p", text, cwd=folder)
            before, after = pixels(folder / f"{name}.png"), pixels(result.name)
        if before.shape != after.shape:
            return None
        if np.abs(before.astype(int) - after).max() > 8:
            return None
    return "the pictures are equal"


def test_invalid_examples_are_refused(examples):
    assert INVALID <= {each for texts in examples.values() for each in texts}
    for text in INVALID:
        sidelight("check", "-p", text, fails=True)


@pytest.mark.parametrize(
    "page", ["README.md", "docs/guides/assets.md", "docs/guides/backgrounds.md",
             "docs/guides/faces.md", "clients/python/README.md", "Examples/cpp/README.md",
             "Examples/CallServer/Sources/CallServer/CallServer.swift",
             "clients/web/tests/server.test.js",
             "sidelight apply --help", "docs/reference/gallery.md", "dev/demo"],
)
def test_the_collection_covers_a_page(examples, page):
    assert len(examples[page]) >= 2


def test_typed_pipelines_are_read_over_several_lines():
    code = "Pipeline {\n  .sepiaTone(intensity: 0.8)\n  .gaussianBlur(radius: .width(0.02))\n}"
    assert documented.typed(code) == ["sepiaTone(intensity: 0.8), gaussianBlur(radius: 0.02w)"]
