"""Shared memory as another language has it: only sockets and mmap of the standard library.

Run as a program, this file is a client that is killed, or one that runs as another user.
"""

import importlib.util
import mmap
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import grpc
import numpy as np
import pytest

from sidelight_testing import images
from sidelight_testing.contract import REPOSITORY, TESTS, frame_filter, service
from sidelight_testing.contract import image as image_messages
from sidelight_testing.contract import session as messages
from sidelight_testing.process import wait_until
from sidelight_testing.server import Server, binary, connect
from sidelight_testing.session import Session, pipeline

if not hasattr(socket, "recv_fds") or sys.platform != "linux":
    pytest.skip("there is no shared memory here", allow_module_level=True)

PROGRAM = REPOSITORY / "Examples/python/filter_video_shared.py"
SPECIFICATION = importlib.util.spec_from_file_location("filter_video_shared", PROGRAM)
example = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(example)

RING, REFUSED, NOT_PERMITTED = b"\x00", b"\x01", b"\x02"
NEVER_DROP = messages.DROP_POLICY_NEVER_DROP
WIDTH, HEIGHT, FRAMES = 38, 22, 12
HEADER = b"YUV4MPEG2 W38 H22 F30:1 Ip A1:1 C420jpeg\n"
# Frames that take long, so a client dies in the midst of one.
LONG = pipeline(*[("gaussianBlur", {"radius": 4 + index / 8}) for index in range(64)])


@pytest.fixture(scope="module")
def sharing():
    """A server that offers shared memory. It must have lived through everything."""
    with Server("--shared-memory") as running:
        yield running
        assert running.process.poll() is None, f"the server died:\n{running.log}"
        assert running.terminate() == 0, running.log


@pytest.fixture
def sharing_stub(sharing):
    with connect(sharing.addresses["tcp"]) as channel:
        yield service.FrameFilterStub(channel)


def request(slot_bytes: int = 1 << 16, **fields: int) -> messages.SharedMemoryRequest:
    return messages.SharedMemoryRequest(slot_bytes=slot_bytes, **fields)


def put(ring, image, slot: int):
    """Writes an inline image into a slot, and returns the image in that slot."""
    ring.slot(slot, len(image.inline))[:] = image.inline
    placed = image_messages.Image()
    placed.CopyFrom(image)
    reference = image_messages.SharedMemorySlot(slot=slot, length=len(image.inline))
    placed.shared_memory.CopyFrom(reference)
    return placed


def knock(opened, token: bytes | None = None, name: bytes | None = None) -> tuple[bytes, list[int]]:
    """Asks for a ring as a client does. Returns the answer, and the descriptors that came."""
    offer = opened.shared_memory
    token = offer.token if token is None else token
    name = opened.session_id.encode() if name is None else name
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(offer.socket_path)
        connection.sendall(b"\x01" + token + bytes([len(name)]) + name)
        answer, descriptors, _, _ = socket.recv_fds(connection, 1, 4)
        return answer, list(descriptors)


def held(process_id: int) -> tuple[int, int]:
    """The descriptors that a process has, and the rings that it has mapped."""
    descriptors = len(os.listdir(f"/proc/{process_id}/fd"))
    maps = Path(f"/proc/{process_id}/maps").read_text()
    return descriptors, maps.count("sidelight-ring")


def run(program: str, server, environment, video: bytes) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, REPOSITORY / "Examples/python" / program]
        + [server.addresses["tcp"], "colorInvert, gaussianBlur(radius: 3)"],
        input=video,
        capture_output=True,
        timeout=60,
        env=environment,
    )


def test_the_example_writes_the_same_video_as_without_shared_memory(sharing, with_contract):
    pictures = [images.noise("I420", WIDTH, HEIGHT, seed=index).inline for index in range(FRAMES)]
    video = HEADER + b"".join(b"FRAME\n" + picture for picture in pictures)
    inline = run("filter_video.py", sharing, with_contract, video)
    shared = run("filter_video_shared.py", sharing, with_contract, video)
    assert shared.returncode == 0, shared.stderr
    assert shared.stderr.decode() == f"{FRAMES} frames filtered\n"
    assert shared.stdout == inline.stdout


def test_the_example_reports_a_server_without_shared_memory(server, with_contract):
    finished = run("filter_video_shared.py", server, with_contract, HEADER)
    assert finished.returncode == 1
    assert "does not offer" in finished.stderr.decode()


def test_slots_of_filtered_and_unfiltered_frames(sharing_stub):
    picture = images.noise("BGRA8", 31, 17)
    fields = {"drop_policy": NEVER_DROP, "shared_memory": request()}
    with Session(sharing_stub, pipeline=pipeline("colorInvert"), **fields) as session:
        ring = example.Ring(session.opened)
        placed = put(ring, picture, 0)
        session.send_frame(placed)
        made = session.receive_until("frame").image.shared_memory
        assert made.slot >= session.opened.shared_memory.input_slots
        pixels = np.frombuffer(ring.slot(made.slot, made.length), dtype=np.uint8).reshape(-1, 4)
        sent = np.frombuffer(picture.inline, dtype=np.uint8).reshape(-1, 4)
        assert (pixels[:, :3] == 255 - sent[:, :3]).all() and (pixels[:, 3] == sent[:, 3]).all()

        session.send(ack=messages.Ack(sequence=1))
        session.select(pipeline())
        for _ in range(10):
            session.send_frame(placed)
            frame = session.receive_until("frame")
            assert frame.disposition == messages.DISPOSITION_PASSED_THROUGH
            assert frame.image == placed
            assert ring.slot(0, len(picture.inline)) == picture.inline
        assert session.finish().stats[-1].passed_through == 10


def test_a_token_is_valid_once_and_for_its_session(sharing_stub):
    fields = {"shared_memory": request()}
    with Session(sharing_stub, **fields) as one, Session(sharing_stub, **fields) as other:
        assert knock(one.opened, name=other.opened.session_id.encode()) == (REFUSED, [])
        assert knock(one.opened) == (REFUSED, []), "shown once, it is spent"
        answer, descriptors = knock(other.opened)
        assert (answer, len(descriptors)) == (RING, 1)
        os.close(descriptors[0])
        assert knock(other.opened) == (REFUSED, [])
        assert knock(other.opened, token=bytes(32)) == (REFUSED, [])


def test_a_ring_over_the_limit_is_refused_with_the_reason(sharing_stub):
    with Session(sharing_stub, shared_memory=request(256 << 20)) as session:
        assert not session.opened.HasField("shared_memory")
        refusal = session.opened.shared_memory_refusal
        assert refusal.code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
        assert str(512 << 20) in refusal.message


def test_descriptors_sent_to_the_descriptor_socket_are_closed(sharing, sharing_stub):
    with Session(sharing_stub, shared_memory=request()) as session:
        before = held(sharing.process.pid)
        path = session.opened.shared_memory.socket_path
        with socket.socket(socket.AF_UNIX) as connection, open("/dev/zero", "rb") as device:
            connection.settimeout(60)
            connection.connect(path)
            socket.send_fds(connection, [b"\x02"], [device.fileno()] * 8)
            assert connection.recv(1) == REFUSED
        wait_until(lambda: held(sharing.process.pid) == before)


def test_removed_pages_are_read_as_zeros(sharing_stub):
    """The client cannot shrink the memory, but it can remove pages, which then read as zeros."""
    picture = images.noise("GRAY8", 256, 256)
    fields = {"drop_policy": NEVER_DROP, "shared_memory": request(1 << 18)}
    with Session(sharing_stub, pipeline=pipeline("colorInvert"), **fields) as session:
        ring = example.Ring(session.opened)
        pages = ring.slot(0, 0).obj
        placed = put(ring, picture, 0)
        pages.madvise(mmap.MADV_REMOVE)
        session.send_frame(placed)
        made = session.receive_until("frame").image.shared_memory
        assert bytes(ring.slot(made.slot, made.length)) == b"\xff" * len(picture.inline)

        # And while frames are filtered, in both directions.
        over = threading.Event()

        def punch():
            while not over.is_set():
                pages.madvise(mmap.MADV_REMOVE)

        remover = threading.Thread(target=punch)
        remover.start()
        try:
            session.select(LONG)
            for _ in range(4):
                session.send(ack=messages.Ack(sequence=session.send_frame(placed) - 1))
                session.receive_until("frame")
        finally:
            over.set()
            remover.join()
        assert session.finish().stats[-1].filtered == 5


def test_other_users_need_a_socket_that_they_can_reach():
    command = [binary(), "serve", "--shared-memory", "--shared-memory-user", "5"]
    refused = subprocess.run(command, capture_output=True, timeout=60)
    assert refused.returncode != 0
    assert b"--shared-memory-socket" in refused.stderr


def be_a_client(address: str) -> None:
    """Sends frames in slots without reading their outcomes, says so, and waits to be killed."""
    with grpc.insecure_channel(address) as channel:
        stub = service.FrameFilterStub(channel)
        fields = {"drop_policy": NEVER_DROP, "mailbox_depth": 4}
        with Session(stub, pipeline=LONG, shared_memory=request(1 << 20), **fields) as session:
            ring = example.Ring(session.opened)
            picture = images.noise("RGB24", 640, 360)
            for slot in range(4):
                session.send_frame(put(ring, picture, slot))
            print("sent", flush=True)
            time.sleep(600)


def test_a_killed_client_leaves_no_ring(sharing, sharing_stub):
    def load() -> tuple[int, int]:
        info = sharing_stub.GetServerInfo(frame_filter.GetServerInfoRequest(), timeout=60)
        return info.load.sessions, info.load.shared_memory_bytes

    wait_until(lambda: load() == (0, 0))
    before = held(sharing.process.pid)
    assert before[1] == 0
    for _ in range(3):
        client = subprocess.Popen(
            [sys.executable, "-m", "sessions.test_shared_memory", sharing.addresses["tcp"]],
            cwd=TESTS,
            stdout=subprocess.PIPE,
        )
        try:
            assert client.stdout.readline() == b"sent\n"
            assert load() == (1, 12 << 20)
            assert held(sharing.process.pid)[1] == 1
            client.kill()
            wait_until(lambda: load() == (0, 0))
            wait_until(lambda: held(sharing.process.pid) == before)
        finally:
            client.kill()
            client.wait()
            client.stdout.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_processes_of_other_users_get_no_ring():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = Path(folder) / "ring.sock"
        friend, stranger = 65533, 65534
        with Server(
            *["--shared-memory", "--shared-memory-socket", path],
            *["--shared-memory-user", str(friend)],
        ) as running, grpc.insecure_channel(running.addresses["tcp"]) as channel:
            stub = service.FrameFilterStub(channel)
            with Session(stub, shared_memory=request()) as session:
                offer = session.opened.shared_memory
                name = session.opened.session_id.encode()
                hello = b"\x01" + offer.token + bytes([len(name)]) + name
                # Not this file: others may not be able to read it, nor the packages that it needs.
                program = (
                    "import socket, sys; s = socket.socket(socket.AF_UNIX); s.settimeout(60);"
                    "s.connect(sys.argv[1]);"
                    "a = s.recv(1) if len(sys.argv) < 3 else"
                    " (s.sendall(bytes.fromhex(sys.argv[2])), s.recv(1))[1];"
                    "print(a[0])"
                )
                for user, arguments, answer in [
                    (stranger, [path], NOT_PERMITTED),
                    (friend, [path, hello.hex()], RING),
                ]:
                    said = subprocess.run(
                        ["/usr/bin/env", "python3", "-c", program, *arguments],
                        user=user,
                        cwd="/",
                        capture_output=True,
                        timeout=60,
                    )
                    assert said.stdout == b"%d\n" % answer[0], said.stderr


if __name__ == "__main__":
    be_a_client(sys.argv[1])
