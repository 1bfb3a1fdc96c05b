"""dev/dependencies: the cycles that it finds in a small package."""

import os
import shutil
import subprocess

import pytest

from sidelight_testing.contract import REPOSITORY

MANIFEST = """// swift-tools-version: 6.2
import PackageDescription
let package = Package(name: "small", targets: [
  .target(name: "Base", dependencies: [%s], path: "Sources/Base"),
  .target(name: "Top", dependencies: ["Base"], path: "Sources/Top"),
])
"""
PART = "struct Part {}\n"
WHOLE = "import Base\n\nstruct Whole { let part: Part }\n"


@pytest.fixture
def package(tmp_path):
    """Two modules, of which the upper one has two folders, and one of them depends on the other."""
    (tmp_path / "dev").mkdir()
    shutil.copy(REPOSITORY / "dev/dependencies", tmp_path / "dev")
    (tmp_path / "Package.swift").write_text(MANIFEST % "")
    for path, text in [
        ("Base/Base.swift", "public struct Base {}\n"),
        ("Top/Parts/Part.swift", PART),
        ("Top/Wholes/Whole.swift", WHOLE),
    ]:
        (tmp_path / "Sources" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "Sources" / path).write_text(text)
    return tmp_path


def dependencies(package, *arguments) -> tuple[int, str]:
    done = subprocess.run(
        [package / "dev/dependencies", *arguments], capture_output=True, text=True, timeout=120,
        # SwiftPM leaves files in the folder for temporary ones.
        env={**os.environ, "TMPDIR": str(package / "dev")},
    )
    assert not done.stderr
    return done.returncode, done.stdout


def test_the_graph_without_cycles_is_printed(package):
    status, output = dependencies(package, "--folders")
    assert status == 0, output
    assert "  Top: Base\n    Wholes -> Parts (Part)\n" in output


def test_a_cycle_of_modules_is_an_error(package):
    (package / "Package.swift").write_text(MANIFEST % '"Top"')
    status, output = dependencies(package)
    assert status == 1
    assert "error: modules depend on each other: Base -> Top -> Base\n" in output


def test_an_import_that_the_manifest_does_not_state_is_an_error(package):
    (package / "Sources/Base/Base.swift").write_text("internal import Top\n")
    status, output = dependencies(package)
    assert status == 1
    assert "error: Base imports Top, which Package.swift does not state\n" in output


def test_folders_that_depend_on_each_other_are_an_error(package):
    (package / "Sources/Top/Parts/Part.swift").write_text(PART + "extension Part { var whole: Whole? { nil } }\n")
    status, output = dependencies(package)
    assert status == 1
    assert "error: folders of Top depend on each other: Parts -> Wholes (Whole) -> Parts (Part)\n" in output


@pytest.mark.parametrize("text", [
    "// Whole is a comment.\n", 'let text = "Whole"\n', "private struct Whole {}\n", "let a = Other.Whole\n",
])  # fmt: skip
def test_other_uses_of_a_name_are_not_dependencies(package, text):
    (package / "Sources/Top/Parts/Part.swift").write_text(PART + text)
    status, output = dependencies(package)
    assert status == 0, output
