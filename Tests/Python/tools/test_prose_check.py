"""dev/prose: its findings in prose, and the code that it ignores."""

import shutil
import subprocess

import pytest

from sidelight_testing.contract import REPOSITORY


@pytest.fixture
def project(tmp_path):
    """An empty repository, in which git ignores the check and its rules."""
    (tmp_path / "dev").mkdir()
    for name in ("prose", "prose-rules", "prose-words"):
        shutil.copy(REPOSITORY / "dev" / name, tmp_path / "dev")
    (tmp_path / "dev/prose-exceptions").touch()
    (tmp_path / ".gitignore").write_text("dev/prose*\n")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True, timeout=60)
    return tmp_path


def write(project, path: str, text: str) -> None:
    """Writes a file of the repository."""
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_text(text)


def check(project, *arguments: str) -> tuple[int, list[str]]:
    """The check's exit status and what it prints, line by line."""
    run = subprocess.run(
        [project / "dev/prose", *arguments],
        capture_output=True, text=True, timeout=120, check=False,
    )
    assert run.stderr == ""
    return run.returncode, run.stdout.splitlines()


@pytest.mark.parametrize(
    ("path", "text", "line", "matched", "suggestion"),
    [
        ("Sources/A.swift", "/// What a frame costs.\nlet cost = 1\n", 1, "What", "a noun"),
        ("Sources/A.swift", "let a = 1\n\n/// A limit.\n/// Whose it is.\n", 4, "Whose", "a noun"),
        ("Sources/A.swift", "/// - Parameter a: What to do.\n", 1, "What", "a noun"),
        ("Sources/A.swift", 'let a = "the frame is in line \\(n)\\nanew"\n', 1, "anew", "again"),
        ("Sources/A.swift", "let a = 1  // The sender is told.\n", 1, "told", "notified"),
        ("Sources/a.c", "/* A line.\n * Starts anew. */\n", 2, "anew", "again"),
        ("Tests/ATests/A.swift", "func `a worker starts anew`() {}\n", 1, "anew", "again"),
        ("Tests/ATests/A.swift", '@Test("A worker starts anew")\nfunc a() {}\n', 1, "anew", "again"),
        ("Tests/ATests/A.swift", '@Test(\n  "Whose it is", arguments: [1])\n', 2, "Whose", "a noun"),
        ("Tests/ATests/A.swift", '@Suite("Starts anew") struct A {}\n', 1, "anew", "again"),
        ("Protos/sidelight/v1/a.proto", "// Starts it\n// anew.\n", 2, "anew", "again"),
        ("docs/a.md", "# A\n\nOne line,\nthen a lock is to be\nhad.\n", 4, "to be had", "available"),
        ("docs/a.md", "| a | b |\n|---|---|\n| 1 | Nobody |\n", 3, "Nobody", "a noun"),
        ("README.md", "A sentence with a mistake: recieve.\n", 1, "recieve", "receive"),
        ("dev/a", "#!/usr/bin/env bash\n# Starts it anew.\n", 2, "anew", "again"),
        ("Makefile", "all: ## Start it anew\n", 1, "anew", "again"),
        ("Tests/Python/a.py", 'def a():\n    """Starts it anew."""\n', 2, "anew", "again"),
    ],
)
def test_a_finding_has_its_line_and_suggestion(project, path, text, line, matched, suggestion):
    write(project, path, text)
    status, lines = check(project)
    assert status == 1
    assert len(lines) == 1, lines
    assert lines[0].startswith(f'{path}:{line}: "{matched}" - say "{suggestion}')


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Sources/A.swift", "/// Returns `anew`, and ``whoever`` asks for it.\n"),
        ("Sources/A.swift", "/// Starts again:\n/// ```\n/// let anew = told\n/// ```\n"),
        ("Sources/A.swift", 'let anew = "told"\n'),
        ("Tests/ATests/A.swift", '@Test(arguments: ["told"]) func a() {}\n'),
        ("Sources/A.swift", 'let a = "the number of frames: \\(anew)"\n'),
        ("Sources/A.swift", "/// Is this valid English? What else could it be?\n"),
        ("docs/a.md", "See [the page](https://example.org/anew) and <https://example.org/told>.\n"),
        ("docs/a.md", "```sh\ndev/told --anew\n```\n\nThe `colour of\nanew` is grey.\n"),
        ("dev/a", "#!/usr/bin/env bash\nanew=told\n"),
        ("Tests/Python/a.py", 'TOLD = ["Starts it anew."]\n'),
    ],
)
def test_code_and_links_are_ignored(project, path, text):
    write(project, path, text)
    assert check(project) == (0, ["prose: no findings in 1 files"])


def test_generated_code_and_the_contracts_of_others_are_skipped(project):
    write(project, "Sources/Wire/Generated/a.pb.swift", "/// Starts anew.\n")
    write(project, "Protos/google/rpc/a.proto", "// Starts anew.\n")
    assert check(project) == (0, ["prose: no findings in 0 files"])


def test_an_exception_allows_a_text_in_its_files_only(project):
    write(project, "Sources/CKernels/a.c", "// Adds the lanes of a vector.\n")
    write(project, "Sources/Server/A.swift", "/// Adds the lanes of a vector.\n")
    exception = "Sources/CKernels/*\tlanes of a vector\tSIMD\n"
    (project / "dev/prose-exceptions").write_text(exception)
    status, lines = check(project)
    assert status == 1
    assert lines == ['Sources/Server/A.swift:1: "lanes" - say "worker"']


def test_an_exception_that_allows_nothing_is_a_finding(project):
    write(project, "docs/a.md", "A clean page.\n")
    (project / "dev/prose-exceptions").write_text("# A comment.\n*\tlanes\tSIMD\n")
    status, lines = check(project)
    assert status == 1
    assert len(lines) == 1 and lines[0].startswith('dev/prose-exceptions:2: "lanes"')


def test_findings_can_be_counted_and_files_named(project):
    write(project, "docs/a.md", "It starts anew, and anew.\n")
    write(project, "Sources/A.swift", "/// Starts anew.\n")
    status, lines = check(project, "--count")
    assert status == 0
    assert lines[0].split() == ["rule", "all", "Sources", "docs"]
    assert lines[-1].split() == ["all", "3", "1", "2"]
    status, lines = check(project, str(project / "Sources/A.swift"))
    assert status == 1
    assert len(lines) == 1
