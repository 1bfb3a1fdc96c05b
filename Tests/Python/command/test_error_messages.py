"""The errors of `sidelight`: one style and one exit status in all verbs."""

import re

import PIL.Image
import pytest

from sidelight_testing.command import sidelight
from sidelight_testing.video import pictures, y4m

INVALID, FAILED = 64, 1

# A pipeline, the offset of the caret, and the error.
PIPELINES = [
    (
        "grayscale, vignete(intensity: 1)", 11,
        'there is no filter named "vignete"; did you mean vignette?',
    ),
    (
        "sepiaTone(intesity: 1)", 10,
        'sepiaTone has no parameter named "intesity"; did you mean intensity?',
    ),
    ("[sepiaTone(intensity: 9)]", 22, "intensity is 9.0, outside -8.0 ... 8.0"),
    ('look: text(text: "{tme}")', 17, None),
    ('kernel(source: "lumma(color)")', 16, None),
    ("sepiaTone(intensity: )", 21, None),
    ("sepiaTone(intensity: 1", 22, None),
]


@pytest.fixture
def folder(tmp_path):
    """A folder with a picture and a video."""
    PIL.Image.new("RGB", (32, 18), "gray").save(tmp_path / "in.png")
    (tmp_path / "in.y4m").write_bytes(y4m(pictures(2)))
    return tmp_path


def complaint(folder, *arguments: object, status: int) -> str:
    """The error of a command, after checks that all errors pass."""
    before = sorted(folder.iterdir())
    finished = sidelight(*arguments, cwd=folder, fails=True)
    said = finished.stderr.decode()
    assert finished.returncode == status, said
    assert said.startswith("Error: ") and said.count("Error: ") == 1 and said.endswith("\n")
    assert not re.search(r"Usage|NSCocoa|Domain|stages\[|pipeline_text|RPCError", said), said
    assert not finished.stdout
    assert sorted(folder.iterdir()) == before
    return said


@pytest.mark.parametrize("text, caret, reason", PIPELINES, ids=lambda value: str(value)[:12])
def test_an_invalid_pipeline_has_the_same_error_in_all_verbs(server, folder, text, caret, reason):
    at = ("--server", server.addresses["tcp"])
    errors = {
        verb: complaint(folder, *arguments, status=INVALID)
        for verb, arguments in {
            "check": ("check", "-p", text),
            "apply": ("apply", "in.png", "out.png", "-p", text),
            "apply at a server": ("apply", "in.png", "out.png", "-p", text, *at),
            "stream": ("stream", "in.y4m", "out.y4m", "-p", text, *at),
            "stream later": ("stream", "in.y4m", "out.y4m", "--pipeline-at", f"0={text}", *at),
        }.items()
    }
    assert len(set(errors.values())) == 1, errors
    said = errors["check"]
    assert said.startswith(f"Error: column {caret + 1}: {reason or ''}")
    assert said.endswith(f"\n{text}\n{' ' * caret}^\n")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["serve", "--listen", "nowhere"], "HOST:PORT"),
        (["serve", "--listen", "127.0.0.1:99999"], "99999"),
        (["serve", "--listen", "unix:"], "unix:"),
        (["serve", "--compute-threads", "0"], "compute-threads"),
        (["stream", "in.y4m", "out.y4m"], "--server"),
        (["stream", "--server", "nowhere"], "'--server <address>': expected HOST:PORT"),
        (["apply", "in.png"], "<output>"),
        (["apply", "in.png", "out.gif"], "out.gif"),
        (["apply", "in.png", "out.png", "--quality", "0"], "the range is 1 to 100"),
        (["check", "--size", "0x0"], "0x0"),
        (["check", "--format", "yuv"], "i420"),
        (["filters", "sepiaTome"], "Did you mean sepiaTone?"),
        (["settings", "limits.max-session"], "Did you mean limits.max-sessions?"),
        (["studio", "--port", "99999"], "0 to 65535"),
        (["strem"], "There is no verb 'strem'; did you mean 'stream'?\nSee 'sidelight --help'.\n"),
        (["dance"], "There is no verb 'dance'.\nSee 'sidelight --help'.\n"),
        (["assets", "lst"], "did you mean 'list'?\nSee 'sidelight assets --help'.\n"),
        (["stream", "--sever", "x"], "See 'sidelight stream --help'.\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_invalid_command_line_is_refused(folder, arguments, words):
    assert words in complaint(folder, *arguments, status=INVALID)


NOWHERE = "unix:/tmp/sidelight-nobody"


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["apply", "none.png", "out.png"], "none.png: No such file or directory"),
        (["apply", "in.y4m", "out.png"], "PNG"),
        (["apply", "in.png", "none/out.png"], "none/out.png: No such file or directory"),
        (["apply", "in.png", "out.png", "--server", NOWHERE], "sidelight-nobody"),
        (["stream", "none.y4m", "out.y4m", "--server", NOWHERE], "No such file or directory"),
        (["stream", "in.png", "out.y4m", "--server", NOWHERE], "YUV4MPEG2"),
        (["stream", "in.y4m", "none/out.y4m", "--server", NOWHERE], "none/out.y4m: No such file"),
        (["stream", "in.y4m", ".", "--server", NOWHERE], "Is a directory"),
        (["stream", "in.y4m", "out.y4m", "--server", NOWHERE], "sidelight-nobody"),
        (["assets", "put", "hat", "none.png", "--server", NOWHERE], "none.png: No such file"),
        (["assets", "list", "--server", NOWHERE], "sidelight-nobody"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_failure_is_reported_in_the_same_style(folder, arguments, words):
    assert words in complaint(folder, *arguments, status=FAILED)


def test_a_missing_token_is_reported(server, folder):
    at = ("--server", server.addresses["unix"], "--token-file", "none.jwt")
    said = complaint(folder, "stream", "in.y4m", "-", *at, status=FAILED)
    assert "none.jwt: No such file or directory" in said


def test_a_field_is_named_without_its_path(server, folder):
    said = complaint(
        folder,
        *("stream", "in.y4m", "-", "--server", server.addresses["tcp"]),
        *("--participant", "x" * 1000),
        status=FAILED,
    )
    assert said.startswith("Error: participant ")
