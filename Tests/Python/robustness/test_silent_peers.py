"""Silent and stalled peers are disconnected in time, without effect on other clients."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

from hyperframe import frame as frames

from sidelight_testing import images
from sidelight_testing.bystander import Bystander
from sidelight_testing.contract import TESTS
from sidelight_testing.contract import session as messages
from sidelight_testing.process import wait_until
from sidelight_testing.raw import PREFACE, PROCESS, RawPeer, message

# The guaranteed times, and the tolerance for a busy machine.
SILENT_SECONDS = 5
DEAD_SECONDS = 15
SLACK_SECONDS = 45


def client_message(**kind: object) -> bytes:
    return message(messages.ClientMessage(**kind).SerializeToString())


def begin_session(peer: RawPeer, frame_count: int = 0, side: int = 1024) -> None:
    """Opens a session, and sends frames that come back as they are."""
    peer.call(PROCESS)
    never = messages.DROP_POLICY_NEVER_DROP
    peer.data(client_message(open=messages.Open(drop_policy=never)))
    for sequence in range(1, frame_count + 1):
        picture = images.noise("GRAY8", side, side)
        peer.data(client_message(frame=messages.Frame(sequence=sequence, image=picture)))


def says_nothing(address: str) -> tuple[RawPeer, float]:
    return RawPeer(address, preface=False), SILENT_SECONDS


def says_half_a_preface(address: str) -> tuple[RawPeer, float]:
    peer = RawPeer(address, preface=False)
    peer.send(PREFACE[:12])
    return peer, SILENT_SECONDS


def leaves_pings_unanswered(address: str) -> tuple[RawPeer, float]:
    return RawPeer(address), DEAD_SECONDS


def leaves_pings_unanswered_in_a_session(address: str) -> tuple[RawPeer, float]:
    peer = RawPeer(address)
    begin_session(peer)
    return peer, DEAD_SECONDS


def stops_in_a_message(address: str) -> tuple[RawPeer, float]:
    peer = RawPeer(address)
    begin_session(peer)
    peer.data(message(b"half", length=1000))
    return peer, DEAD_SECONDS


SILENCES = [
    says_nothing, says_half_a_preface, leaves_pings_unanswered,
    leaves_pings_unanswered_in_a_session, stops_in_a_message,
]


def test_silent_peers_are_disconnected_in_time(server):
    # All at once: each takes as long as it is allowed to.
    with Bystander(server), contextlib.ExitStack() as stack:
        peers = []
        for silence in SILENCES:
            peer, allowed = silence(server.addresses["tcp"])
            peers.append((stack.enter_context(peer), allowed, silence.__name__))
        took: dict[str, float] = {}

        def watch(peer, name):
            took[name] = peer.closed()

        threads = [threading.Thread(target=watch, args=(peer, name)) for peer, _, name in peers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for _, allowed, name in peers:
            assert took[name] < allowed + SLACK_SECONDS, took


def be_a_client(address: str) -> None:
    """Opens a session, prints `open`, and waits to be stopped."""
    with RawPeer(address) as peer:
        begin_session(peer, frame_count=1, side=8)
        peer.next(frames.DataFrame)
        print("open", flush=True)
        time.sleep(600)


def test_stopped_and_stalled_peers_leave_no_session(server):
    address = server.addresses["tcp"]
    with Bystander(server) as bystander, contextlib.ExitStack() as stack:
        stopped = subprocess.Popen(
            [sys.executable, "-m", "robustness.test_silent_peers", address],
            cwd=TESTS,
            stdout=subprocess.PIPE,
        )
        stack.callback(stopped.wait)
        stack.callback(stopped.kill)
        stack.callback(stopped.stdout.close)
        assert stopped.stdout.readline() == b"open\n"
        os.kill(stopped.pid, signal.SIGSTOP)

        # One grants no window, but answers PINGs; another stops reading from its socket.
        shut = stack.enter_context(RawPeer(address))
        begin_session(shut, frame_count=2)
        done = threading.Event()

        def answer():
            for each in shut.frames():
                if isinstance(each, frames.PingFrame) and "ACK" not in each.flags:
                    pong = frames.PingFrame(0, each.opaque_data)
                    pong.flags.add("ACK")
                    shut.send(pong.serialize())
                if done.is_set() or isinstance(each, frames.RstStreamFrame):
                    return

        answering = threading.Thread(target=answer)
        answering.start()
        deaf = stack.enter_context(RawPeer(address, receive_buffer=4096))
        deaf.open_windows()
        begin_session(deaf, frame_count=3)

        wait_until(lambda: bystander.load().sessions == 4)
        wait_until(lambda: bystander.load().sessions == 1)
        done.set()
        answering.join()


if __name__ == "__main__":
    be_a_client(sys.argv[1])
