"""The emulated link of the tests: its rate, delay, loss, queue and cuts are those it is given."""

import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sidelight_testing.link import ADDRESSES, CLIENT, SERVER, Conditions, Direction

PAYLOAD = 1172
PACKET = PAYLOAD + 28  # With the headers of UDP and IP.
SO_TIMESTAMPNS = 35


class Datagrams:
    """A sender of numbered datagrams at the client's end, and their receiver."""

    def __init__(self, link) -> None:
        self.receiver = link.socket(SERVER, socket.SOCK_DGRAM)
        # Times of arrival are the kernel's: the test may run later.
        self.receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.receiver.bind((ADDRESSES[SERVER], 0))
        self.sender = link.socket(CLIENT, socket.SOCK_DGRAM)
        self.sender.connect(self.receiver.getsockname())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sender.close()
        self.receiver.close()

    def send(self, number: int) -> None:
        self.sender.send(struct.pack("=Qd", number, time.time()).ljust(PAYLOAD, b"\0"))
        if number % 100 == 99:
            time.sleep(0.002)  # Room in the device's own queue of 500 packets.

    def receive(self, timeout: float) -> list[tuple[int, float, float]]:
        """The numbers, times of sending and times of arrival, until none comes for a time."""
        arrivals = []
        while select.select([self.receiver], [], [], timeout)[0]:
            data, extra, _, _ = self.receiver.recvmsg(2048, 64)
            seconds, nanoseconds = struct.unpack("=qq", extra[0][2])
            number, sent = struct.unpack_from("=Qd", data)
            arrivals.append((number, sent, seconds + nanoseconds * 1e-9))
        return arrivals


class Steps:
    """One direction of a link between two sockets, at times that the test gives. A machine that is
    busy delivers packets late and in bursts, so only these times are exact."""

    def __init__(self, conditions: Conditions, seed: int = 1) -> None:
        ends = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2)]
        (self.source, source), (target, self.target) = self.pairs = ends
        for pair in self.pairs:
            for end in pair:
                end.setblocking(False)
        self.direction = Direction(source.fileno(), target.fileno(), conditions, seed)
        # The numbers and times of the packets that have arrived.
        self.arrivals: list[tuple[int, float]] = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pair in self.pairs:
            for end in pair:
                end.close()

    def send(self, number: int, now: float = 0.0) -> None:
        self.run(now)
        self.source.send(struct.pack(">BxxxQ", 0x45, number).ljust(PACKET, b"\0"))
        self.direction.read(now)
        self.direction.advance(now)

    def run(self, until: float = float("inf")) -> None:
        """Takes the steps whose times are before `until`."""
        while (now := self.direction.next_time()) <= until and now < float("inf"):
            self.direction.advance(now)
            try:
                while True:
                    packet = self.target.recv(2048)
                    self.arrivals.append((struct.unpack_from(">BxxxQ", packet)[1], now))
            except BlockingIOError:
                pass


def test_packets_arrive_at_the_rate_after_the_delay():
    with Steps(Conditions(rate=20e6, delay=0.01, queue=1 << 20)) as steps:
        for number in range(800):
            steps.send(number)
        steps.run()
    each = PACKET * 8 / 20e6
    assert [number for number, _ in steps.arrivals] == list(range(800))
    assert [time for _, time in steps.arrivals] == pytest.approx(
        [0.01 + each * (number + 1) for number in range(800)]
    )


def test_jitter_adds_to_the_delay_and_keeps_the_order():
    with Steps(Conditions(rate=20e6, delay=0.025, jitter=0.01)) as steps:
        for number in range(200):
            steps.send(number, number * 0.02)
        steps.run()
    assert [number for number, _ in steps.arrivals] == list(range(200))
    delays = sorted(
        time - number * 0.02 - PACKET * 8 / 20e6 for number, time in steps.arrivals
    )
    assert 0.025 <= delays[0] < 0.026
    assert 0.028 < delays[100] < 0.032
    assert 0.034 < delays[-1] <= 0.035


def test_a_share_of_the_packets_is_lost_and_the_same_ones_for_a_seed():
    def lost(seed):
        with Steps(Conditions(rate=1e9, loss=0.05, queue=4 << 20), seed) as steps:
            for number in range(2000):
                steps.send(number)
            steps.run()
        assert steps.direction.counts["lost"] == 2000 - len(steps.arrivals)
        return set(range(2000)) - {number for number, _ in steps.arrivals}

    first = lost(seed=1)
    assert 60 <= len(first) <= 140
    assert lost(seed=1) == first
    assert lost(seed=2) != first


def test_a_full_queue_loses_the_packets_that_follow():
    with Steps(Conditions(rate=1e6, queue=30 * PACKET)) as steps:
        for number in range(100):
            steps.send(number)
        steps.run()
    # One packet is on the link while 30 wait.
    assert [number for number, _ in steps.arrivals] == list(range(31))
    assert steps.direction.counts["overflowed"] == 69


def test_a_change_of_the_rate_applies_to_the_packets_that_wait():
    with Steps(Conditions(rate=10e6, queue=1 << 20)) as steps:
        for number in range(400):  # 384 ms at 10 Mbit/s
            steps.send(number)
        steps.run(0.1)
        steps.direction.conditions = Conditions(rate=2e6, queue=1 << 20)
        steps.run()
    times = [time for _, time in steps.arrivals]
    gaps = [after - before for before, after in zip(times, times[1:])]
    assert gaps[:103] == pytest.approx([PACKET * 8 / 10e6] * 103)
    # The packet that is on the link arrives at the rate at which it was sent.
    assert gaps[104:] == pytest.approx([PACKET * 8 / 2e6] * 295)


def test_a_link_delivers_all_packets_in_order_and_none_too_early(make_link):
    link = make_link(Conditions(rate=20e6, delay=0.025, jitter=0.01))
    with Datagrams(link) as datagrams:
        arrivals = []
        for number in range(100):
            datagrams.send(number)
            arrivals += datagrams.receive(0.002)
        while len(arrivals) < 100:
            received = datagrams.receive(10)
            assert received, link.counts
            arrivals += received
    assert [number for number, _, _ in arrivals] == list(range(100))
    assert min(arrived - sent for _, sent, arrived in arrivals) >= 0.025 + PACKET * 8 / 20e6


def test_a_cut_loses_everything_in_both_directions_until_it_is_over(make_link):
    link = make_link(Conditions(rate=10e6, delay=0.005))
    with Datagrams(link) as datagrams:
        over = link.cut(0.3) + time.time() - time.monotonic()
        number, arrivals = 0, []
        # Sends until a packet arrives; a link on a busy machine may be late.
        while not arrivals and time.time() < over + 10:
            datagrams.send(number)
            number += 1
            arrivals = datagrams.receive(0.005)
    assert arrivals, "no packet arrives after the cut"
    assert arrivals[0][2] >= over
    lost = link.counts[CLIENT]["lost"]
    assert lost > 0 and arrivals[0][0] == lost, link.counts


def test_the_kernel_reports_the_round_trip_of_tcp(make_link):
    link = make_link(Conditions(rate=20e6, delay=0.04))
    listener = link.socket(SERVER, socket.SOCK_STREAM)
    listener.bind((ADDRESSES[SERVER], 0))
    listener.listen()
    with listener, link.socket(CLIENT, socket.SOCK_STREAM) as client:
        client.connect(listener.getsockname())
        info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        assert 0.08 <= struct.unpack_from("I", info, 68)[0] / 1e6 < 1


def test_a_link_ends_with_its_process(make_link):
    make_link(Conditions(rate=1e6))  # Skips the test where there can be no link.
    code = (
        "import os, signal; from sidelight_testing.link import Conditions, Link\n"
        "link = Link(Conditions(rate=1e6)).__enter__(); print(link.process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGSTOP)"
    )
    folder = Path(__file__).parents[1]
    parent = subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    with parent:
        child = os.pidfd_open(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
    assert select.select([child], [], [], 10)[0], "the link runs without its parent"
    os.close(child)
