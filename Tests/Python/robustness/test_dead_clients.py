"""A client whose process is killed leaves no session and no frame.

Run as a program, this file is the client that is killed.
"""

import subprocess
import sys
import time

import grpc
import pytest

from sidelight_testing import images
from sidelight_testing.contract import TESTS, frame_filter, service
from sidelight_testing.contract import session as messages
from sidelight_testing.process import cpu_seconds, wait_until
from sidelight_testing.session import Session, pipeline

# Frames that take long, so the client dies in the midst of one, with others waiting.
LONG = pipeline(*[("gaussianBlur", {"radius": 4 + index / 8}) for index in range(64)])
FRAMES = 8
# The processor time that the server may still need. The frames need more than that.
MAX_CPU_SECONDS = 0.5


def be_a_client(address: str) -> None:
    """Sends frames without reading outcomes, prints `sent`, and waits to be killed."""
    with grpc.insecure_channel(address) as channel:
        stub = service.FrameFilterStub(channel)
        picture = images.noise("RGB24", 960, 540)
        never = messages.DROP_POLICY_NEVER_DROP
        with Session(stub, pipeline=LONG, drop_policy=never, mailbox_depth=FRAMES) as session:
            for _ in range(FRAMES):
                session.send_frame(picture)
            print("sent", flush=True)
            time.sleep(600)


def load(stub) -> tuple[int, int]:
    """The open sessions, and the bytes of frames in use."""
    info = stub.GetServerInfo(frame_filter.GetServerInfoRequest(), timeout=60)
    return info.load.sessions, info.load.pool_bytes_in_use


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_a_killed_client_leaves_no_session_or_frame(server, stub, kind):
    before = load(stub)
    for _ in range(3):
        client = subprocess.Popen(
            [sys.executable, "-m", "robustness.test_dead_clients", server.addresses[kind]],
            cwd=TESTS,
            stdout=subprocess.PIPE,
        )
        try:
            assert client.stdout.readline() == b"sent\n"
            wait_until(lambda: load(stub)[1] > before[1])
            assert load(stub)[0] == before[0] + 1
            worked = cpu_seconds(server.process)
            client.kill()
            wait_until(lambda: load(stub) == before)
            worked = cpu_seconds(server.process) - worked
            assert worked < MAX_CPU_SECONDS, f"{worked:.1f} s of processor time after its end"
        finally:
            client.kill()
            client.wait()
            client.stdout.close()
    with Session(stub, pipeline=pipeline("colorInvert")) as session:
        session.send_frame(images.noise("BGRA8", 8, 8))
        assert len(session.finish().frames) == 1


if __name__ == "__main__":
    be_a_client(sys.argv[1])
