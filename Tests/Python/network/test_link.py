"""The emulated link of the tests: its rate, delay, loss, queue and cuts are those it is given."""

import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from sidelight_testing.link import ADDRESSES, CLIENT, SERVER, Conditions

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


def test_packets_arrive_at_the_rate(make_link):
    with Datagrams(make_link(Conditions(rate=20e6, delay=0.01, queue=1 << 20))) as datagrams:
        for number in range(800):
            datagrams.send(number)
        times = [arrived for _, _, arrived in datagrams.receive(0.3)]
    assert len(times) == 800
    assert (len(times) - 1) * PACKET * 8 / (times[-1] - times[0]) == pytest.approx(20e6, rel=0.02)


def test_packets_take_the_delay_and_keep_their_order(make_link):
    link = make_link(Conditions(rate=20e6, delay=0.025, jitter=0.01))
    with Datagrams(link) as datagrams:
        arrivals = []
        for number in range(100):
            datagrams.send(number)
            arrivals += datagrams.receive(0.002)
        arrivals += datagrams.receive(0.1)
    assert [number for number, _, _ in arrivals] == list(range(100))
    delays = sorted(arrived - sent - PACKET * 8 / 20e6 for _, sent, arrived in arrivals)
    assert 0.025 <= delays[0]
    # The sender may be interrupted between reading its clock and sending; the median is not.
    assert 0.029 <= delays[50] < 0.032, link.counts
    assert delays[75] < 0.036, link.counts


def test_a_share_of_the_packets_is_lost_and_the_same_ones_for_a_seed(make_link):
    def lost(seed):
        with Datagrams(make_link(Conditions(rate=1e9, loss=0.05, queue=4 << 20), seed=seed)) as datagrams:
            for number in range(2000):
                datagrams.send(number)
            return set(range(2000)) - {number for number, _, _ in datagrams.receive(0.2)}

    first = lost(seed=1)
    assert 60 <= len(first) <= 140
    assert lost(seed=1) == first
    assert lost(seed=2) != first


def test_a_full_queue_loses_the_packets_that_follow(make_link):
    link = make_link(Conditions(rate=1e6, queue=30 * PACKET))
    with Datagrams(link) as datagrams:
        for number in range(100):
            datagrams.send(number)
        arrivals = datagrams.receive(0.3)
    # One packet is on the link before the queue fills.
    assert [number for number, _, _ in arrivals[:30]] == list(range(30))
    assert 30 <= len(arrivals) <= 33
    assert link.counts[CLIENT]["overflowed"] == 100 - len(arrivals)


def test_a_change_of_the_rate_applies_to_the_packets_that_wait(make_link):
    conditions = Conditions(rate=10e6, queue=1 << 20)
    link = make_link(conditions)
    with Datagrams(link) as datagrams:
        for number in range(400):  # 384 ms at 10 Mbit/s
            datagrams.send(number)
        changed = link.change(replace(conditions, rate=2e6), after=0.1)
        changed += time.time() - time.monotonic()
        times = [arrived for _, _, arrived in datagrams.receive(0.5)]
    before = [each for each in times if each < changed]
    after = [each for each in times if each > changed + 0.01]
    assert (len(before) - 1) * PACKET * 8 / (before[-1] - before[0]) == pytest.approx(10e6, rel=0.05)
    assert (len(after) - 1) * PACKET * 8 / (after[-1] - after[0]) == pytest.approx(2e6, rel=0.02)


def test_a_cut_loses_everything_in_both_directions_until_it_is_over(make_link):
    link = make_link(Conditions(rate=10e6, delay=0.005))
    with Datagrams(link) as datagrams:
        over = link.cut(0.3) + time.time() - time.monotonic()
        number = 0
        while time.time() < over + 0.05:
            datagrams.send(number)
            number += 1
            time.sleep(0.005)
        arrivals = datagrams.receive(0.2)
    assert arrivals, "no packet arrives after the cut"
    assert over - 0.005 <= arrivals[0][1] < over + 0.02
    assert [each for each, _, _ in arrivals] == list(range(arrivals[0][0], number))


def test_the_kernel_reports_the_round_trip_of_tcp(make_link):
    link = make_link(Conditions(rate=20e6, delay=0.04))
    listener = link.socket(SERVER, socket.SOCK_STREAM)
    listener.bind((ADDRESSES[SERVER], 0))
    listener.listen()
    with listener, link.socket(CLIENT, socket.SOCK_STREAM) as client:
        client.connect(listener.getsockname())
        info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        assert struct.unpack_from("I", info, 68)[0] / 1e6 == pytest.approx(0.08, abs=0.005)


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
