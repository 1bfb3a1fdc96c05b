"""`sidelight sessions`: the open sessions of a server, shown and changed by an operator."""

import json
import subprocess

import grpc
import pytest

from sidelight_testing import images
from sidelight_testing.command import sidelight
from sidelight_testing.contract import service
from sidelight_testing.contract import session as messages
from sidelight_testing.server import binary, connect
from sidelight_testing.session import Session

LABEL = "from the command's test"
PICTURE = images.noise("RGB24", 16, 16)


@pytest.fixture
def session(server):
    """A session that has sent a frame."""
    with connect(server.addresses["tcp"]) as channel:
        stub = service.FrameFilterStub(channel)
        with Session(stub, label=LABEL, accepts_move=True) as session:
            session.send_frame(PICTURE)
            session.receive_until("frame")
            yield session


def sessions(server, verb: str, *arguments: str, fails: bool = False) -> subprocess.CompletedProcess:
    return sidelight(
        "sessions", verb, *arguments, "--server", server.addresses["tcp"], fails=fails
    )


def test_list_has_a_line_for_every_session(server, session):
    listed = sessions(server, "list", "--label", LABEL).stdout.decode().splitlines()
    fields = [line.split("\t") for line in listed]
    assert [each[0] for each in fields] == [session.opened.session_id]
    assert "16x16" in fields[0] and "1 received" in fields[0] and "running" in fields[0]
    (described,) = json.loads(
        sessions(server, "list", "--label", LABEL, "--json").stdout
    )["sessions"]
    assert described["sessionId"] == session.opened.session_id
    assert sessions(server, "list", "--label", "no such label").stdout == b""


def test_watch_lists_them_again(server, session):
    arguments = ["sessions", "list", "--watch", "--json", "--server", server.addresses["tcp"]]
    with subprocess.Popen([binary(), *arguments], stdout=subprocess.PIPE) as watching:
        for _ in range(2):
            snapshot = json.loads(watching.stdout.readline())
            assert session.opened.session_id in {
                each["sessionId"] for each in snapshot["sessions"]
            }
        watching.terminate()


def test_override_forces_a_pipeline_and_ends_it(server, session):
    identifier = session.opened.session_id
    done = sessions(
        server, "override", identifier, "--pipeline", "colorInvert", "--for", "60", "--reason", "why"
    )
    assert done.stdout.decode().startswith(f"{identifier}\trevision ")
    state = session.receive_until("state")
    assert (state.state, state.message) == (messages.SESSION_STATE_OVERRIDDEN, "why")
    sessions(server, "override", identifier, "--end")
    assert session.receive_until("state").state == messages.SESSION_STATE_RUNNING


def test_move_and_close(server, session):
    identifier = session.opened.session_id
    asked = sessions(server, "move", identifier, "--to", "127.0.0.1:50051").stdout.decode()
    assert asked == "The client was asked to move.\n"
    state = session.receive_until("state")
    assert state.state == messages.SESSION_STATE_MOVE and state.resume_token
    assert list(state.move.addresses) == ["127.0.0.1:50051"] and state.move.time_left.seconds
    sessions(server, "close", identifier, "--reason", "the call is over")
    error = session.fail()
    assert error.code() == grpc.StatusCode.PERMISSION_DENIED
    assert "the call is over" in error.details()


@pytest.mark.parametrize(
    "arguments, status, complaint",
    [
        (["move", "nothing"], 1, 'session_id there is no session "nothing"'),
        (["move", "x", "--to", "nowhere"], 64, "expected HOST:PORT"),
        (["close", "nothing"], 1, 'there is no session "nothing"'),
        (["override", "nothing", "--for", "5", "--pipeline", "colorInvert"], 1, "no session"),
        (["override", "x", "--pipeline", "colorInvert"], 64, "either --for with the duration"),
        (["override", "x", "--for", "0", "--pipeline", "colorInvert"], 64, "must be 1 to 86400"),
        (["override", "x", "--end", "--reason", "y"], 64, "neither --pipeline nor --reason"),
        (["list", "--label", "x" * 200], 1, "label"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None,
)
def test_wrong_arguments_have_a_clear_error(server, arguments, status, complaint):
    failed = sessions(server, *arguments, fails=True)
    assert failed.returncode == status, failed.stderr
    assert complaint in failed.stderr.decode() and b"Error: " in failed.stderr


def test_an_invalid_pipeline_has_its_position(server, session):
    failed = sessions(
        server, "override", session.opened.session_id, "--for", "5", "--pipeline", "noSuchFilter",
        fails=True,
    )
    assert failed.returncode == 64 and "noSuchFilter" in failed.stderr.decode()


def test_without_a_server_the_command_fails(tmp_path):
    failed = sidelight("sessions", "list", "--server", f"unix:{tmp_path}/none", fails=True)
    assert failed.returncode == 1 and failed.stderr.startswith(b"Error: ")
