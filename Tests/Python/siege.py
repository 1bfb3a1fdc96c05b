"""A siege: many sessions run, while every attack that the tests know is made in turn, again and again.

    dev/siege [--sessions 100] [--minutes 10] [--rate 5]

Fails if the server ends, if any of the sessions loses a frame, or if the server's memory is not back
within 20 % of what it was 30 seconds after.
"""

import argparse
import itertools
import sys
import threading
import time

import grpc

from sidelight_testing import images
from sidelight_testing.contract import service
from sidelight_testing.contract import session as messages
from sidelight_testing.raw import PROCESS, RawPeer, message
from sidelight_testing.server import Server
from sidelight_testing.session import Session, pipeline
from test_hostile_peers import BROKEN_CALLS, BROKEN_CONNECTIONS, HEADERS, OPEN, resident_bytes

NEVER_DROP = messages.DROP_POLICY_NEVER_DROP
REST_SECONDS = 30


class Participant(threading.Thread):
    """An honest session that sends frames at a rate, and counts what becomes of them."""

    def __init__(self, stub, rate: float, done: threading.Event) -> None:
        super().__init__()
        self.stub, self.rate, self.done = stub, rate, done
        self.frames = 0
        self.trouble: BaseException | None = None

    def run(self) -> None:
        picture = images.noise("I420", 320, 180)
        look = pipeline("sepiaTone", "vignette")
        try:
            with Session(
                self.stub, seconds=86400, pipeline=look, drop_policy=NEVER_DROP
            ) as session:
                while not self.done.wait(1 / self.rate):
                    sequence = session.send_frame(picture)
                    assert session.receive_until("frame").sequence == sequence
                    self.frames += 1
                transcript = session.finish()
            assert not transcript.dropped and len(transcript.frames) == self.frames
        except BaseException as trouble:
            self.trouble = trouble


def attacks(address: str):
    """Every attack, as a name and a function that makes it."""

    def call(parts, ends):
        with RawPeer(address) as peer:
            peer.open_windows()
            peer.call(PROCESS, end=ends and not parts)
            for index, part in enumerate(parts):
                peer.data(part, end=ends and index == len(parts) - 1)
            peer.status()

    def connection(content):
        with RawPeer(address) as peer:
            peer.send(content)
            peer.closed()

    def odd(headers):
        with RawPeer(address) as peer:
            peer.call(PROCESS, headers=headers)
            peer.data(OPEN, end=True)
            peer.status()

    def abandoned():
        with RawPeer(address) as peer:
            peer.call(PROCESS)
            peer.data(OPEN + message(b"half", length=1 << 20))

    for name, (parts, ends, _) in BROKEN_CALLS.items():
        yield name, lambda parts=parts, ends=ends: call(parts, ends)
    for name, content in BROKEN_CONNECTIONS.items():
        # That one is known by a silence of twelve seconds.
        if name != "headers that are broken off":
            yield name, lambda content=content: connection(content)
    for name, headers in HEADERS.items():
        yield name, lambda headers=headers: odd(headers)
    yield "a session that is left in a message", abandoned


def besiege(server: Server, sessions: int, minutes: float, rate: float) -> list[str]:
    """Returns what did not hold."""
    done = threading.Event()
    address = server.addresses["tcp"]
    # A connection each, as clients that do not know each other have.
    options = [("grpc.use_local_subchannel_pool", 1)]
    channels = [grpc.insecure_channel(address, options) for _ in range(sessions)]
    participants = [
        Participant(service.FrameFilterStub(channel), rate, done) for channel in channels
    ]
    for participant in participants:
        participant.start()
    time.sleep(5)
    baseline = resident_bytes(server.process)
    end = time.monotonic() + 60 * minutes
    made = 0
    highest = baseline
    for name, attack in itertools.cycle(attacks(address)):
        if time.monotonic() > end or server.process.poll() is not None:
            break
        attack()
        made += 1
        highest = max(highest, resident_bytes(server.process))
    time.sleep(REST_SECONDS if server.process.poll() is None else 0)
    # The sessions still run: what is compared is the same work.
    after = resident_bytes(server.process) if server.process.poll() is None else 0
    done.set()
    for participant in participants:
        participant.join()
    for channel in channels:
        channel.close()
    frames = sum(each.frames for each in participants)
    print(
        f"{sessions} sessions, {frames} frames, {made} attacks; resident memory "
        f"{baseline >> 20} MiB before, {highest >> 20} at most, {after >> 20} after"
    )
    failures = [f"a session: {each.trouble!r}" for each in participants if each.trouble]
    if server.process.poll() is not None:
        failures.append(f"the server ended: {server.log}")
    if after > 1.2 * baseline:
        failures.append("memory did not come back")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=float, default=5, help="frames a second of each session")
    arguments = parser.parse_args()
    with Server() as server:
        failures = besiege(server, arguments.sessions, arguments.minutes, arguments.rate)
    for failure in failures:
        print(f"siege: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
