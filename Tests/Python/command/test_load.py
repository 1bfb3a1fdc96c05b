"""`sidelight load`: measures a server with sessions that send generated pictures."""

import json

import pytest

from sidelight_testing.command import sidelight

SMALL = ("--size", "64x48", "--fps", "20", "--duration", "0.5")


@pytest.mark.parametrize("kind, options", [("tcp", ["--inline"]), ("unix", ["--format", "bgra8"])])
def test_every_frame_of_every_session_is_counted(server, kind, options):
    finished = sidelight(
        "load", server.addresses[kind], "--sessions", "3", "--pipeline", "colorInvert", "--json",
        *SMALL, *options,
    )
    result = json.loads(finished.stdout)
    dropped = sum(result["dropped"].values())
    assert result["filtered"] + result["passedThrough"] + result["degraded"] + dropped == 30
    assert result["filtered"] > 0 and result["seconds"] >= 0.45
    times = result["roundTripMilliseconds"]
    assert 0 < times["p50"] <= times["p95"] <= times["p99"]


@pytest.mark.parametrize("codec", ["jpeg", "h264", "vp8", "vp9"])
def test_encoded_pictures_are_decoded_in_a_loop(server, codec):
    finished = sidelight(
        "load", server.addresses["tcp"], "--codec", codec, "--pipeline", "colorInvert", "--json",
        "--size", "64x48", "--fps", "40", "--duration", "1",
    )
    result = json.loads(finished.stdout)
    assert result["filtered"] + result["degraded"] + sum(result["dropped"].values()) == 40
    # Of the loop's 30 pictures each depends on the one before it.
    assert not result["dropped"].keys() & {"notDecodable", "invalidFrame"}
    assert result["filtered"] > 0


def test_the_summary_is_a_line(server):
    finished = sidelight("load", server.addresses["tcp"], *SMALL)
    assert finished.stderr.decode().startswith("10 frames in ")
    assert b"passed through" in finished.stderr


@pytest.mark.parametrize(
    "arguments, status, complaint",
    [
        (["--sessions", "0"], 64, "--sessions is 0"),
        (["--fps", "5000"], 64, "it must be 0.1 to 1000"),
        (["--pipeline", "noSuchFilter"], 64, "noSuchFilter"),
        (["--size", "wide"], 64, "size"),
        (["--codec", "av1"], 64, "--codec"),
        (["--codec", "vp8", "--format", "nv12"], 64, "--format is nv12"),
        (["--codec", "h264", "--size", "63x48"], 64, "must be even"),
    ],
)
def test_wrong_arguments_have_a_clear_error(server, arguments, status, complaint):
    failed = sidelight("load", server.addresses["tcp"], *arguments, fails=True)
    assert failed.returncode == status, failed.stderr
    assert complaint in failed.stderr.decode()


def test_without_a_server_the_command_fails(tmp_path):
    failed = sidelight("load", f"unix:{tmp_path}/none", fails=True)
    assert failed.returncode == 1 and failed.stderr.startswith(b"Error: ")
