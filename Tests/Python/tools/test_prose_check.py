"""dev/prose: the misspellings that it finds, the code that it ignores, and its report."""

import shutil
import subprocess

import pytest

from sidelight_testing.contract import REPOSITORY


@pytest.fixture
def project(tmp_path):
    """An empty repository, in which git ignores the check and its words."""
    (tmp_path / "dev").mkdir()
    for name in ("prose", "prose-words"):
        shutil.copy(REPOSITORY / "dev" / name, tmp_path / "dev")
    (tmp_path / ".gitignore").write_text("dev/prose*\n")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True, timeout=60)
    return tmp_path


def write(project, path: str, text: str) -> None:
    """Writes a file of the repository."""
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_text(text)


def run(project, *arguments: str) -> tuple[int, list[str]]:
    """The exit status of dev/prose and what it prints, line by line."""
    result = subprocess.run(
        [project / "dev/prose", *arguments],
        capture_output=True, text=True, timeout=120, check=False,
    )
    assert result.stderr == ""
    return result.returncode, result.stdout.splitlines()


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("Sources/A.swift", "let a = 1\n\n/// A limit.\n/// To recieve.\n", 4),
        ("Sources/A.swift", "/// - Parameter a: To recieve.\n", 1),
        ("Sources/A.swift", 'let a = "line \\(n)\\nto recieve it"\n', 1),
        ("Sources/A.swift", "let a = 1  // To recieve it.\n", 1),
        ("Sources/a.c", "/* A line.\n * To recieve it. */\n", 2),
        ("Tests/ATests/A.swift", "func `workers can recieve frames`() {}\n", 1),
        ("Protos/sidelight/v1/a.proto", "// To\n// recieve.\n", 2),
        ("docs/a.md", "# A\n\nOne line,\nthen to\nrecieve.\n", 5),
        ("docs/a.md", "| a | b |\n|---|---|\n| 1 | Recieve |\n", 3),
        ("README.md", "To recieve.\n", 1),
        ("dev/a", "#!/usr/bin/env bash\n# To recieve.\n", 2),
        ("Makefile", "all: ## To recieve\n", 1),
        ("Tests/Python/a.py", 'def a():\n    """To recieve."""\n', 2),
    ],
)
def test_a_misspelling_has_its_line(project, path, text, line):
    write(project, path, text)
    status, lines = run(project)
    assert status == 1
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"{path}:{line}: ") and lines[0].lower().endswith("recieve ==> receive")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Sources/A.swift", "/// Returns `recieve`, and ``recieve`` too.\n"),
        ("Sources/A.swift", "/// Starts again:\n/// ```\n/// let recieve = 1\n/// ```\n"),
        ("Sources/A.swift", "/// - Parameter recieve: The number.\n"),
        ("Sources/A.swift", 'let recieve = "recieve"\n'),
        ("Sources/A.swift", 'let a = "the number of frames: \\(recieve)"\n'),
        ("Tests/ATests/A.swift", '@Test(arguments: ["recieve"]) func a() {}\n'),
        ("docs/a.md", "See [the page](https://example.org/recieve) and <https://example.org/recieve>.\n"),
        ("docs/a.md", "```sh\ndev/recieve\n```\n\nThe `colour of\nrecieve` is grey.\n"),
        ("dev/a", "#!/usr/bin/env bash\nrecieve=1\n"),
        ("Tests/Python/a.py", 'NAMES = ["recieve"]\n'),
    ],
)
def test_code_and_links_are_ignored(project, path, text):
    write(project, path, text)
    assert run(project) == (0, ["prose: no misspellings in 1 files"])


def test_generated_code_and_the_contracts_of_others_are_skipped(project):
    write(project, "Sources/Wire/Generated/a.pb.swift", "/// To recieve.\n")
    write(project, "Protos/google/rpc/a.proto", "// To recieve.\n")
    assert run(project) == (0, ["prose: no misspellings in 0 files"])


def test_the_report_counts_phrases_per_10000_words(project):
    write(project, "docs/a.md", "Close it so\nthat it ends. " + "Word. " * 94)
    write(project, "docs/guides/a.md", "```\nso that\n```\n" + "Word. " * 100)
    write(project, "Sources/A.swift", "/// So that it ends.\nlet a = 1  // so that\n")
    status, lines = run(project, "--report")
    assert status == 0
    words, so_that = (next(line.split() for line in lines if line.startswith(name))
                      for name in ("words", "so that"))
    assert words[1:] == ["4", "0", "100", "100", "recorded", "recorded"]
    assert so_that[2:] == ["2500.0", "0.0", "0.0", "100.0", "1.0", "2.7"]
