"""The age of results over links that lose packets and change their rate."""

import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from sidelight_testing import link_stream
from sidelight_testing.link import ADDRESSES, SERVER, Conditions
from sidelight_testing.server import Server

UPLOAD = Conditions(rate=40e6, delay=0.025)


def ages(result: dict) -> list[float]:
    return [age for _, age in result["results"]]


@pytest.fixture(scope="module")
def congestion_controls() -> str:
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text()


def test_bbr_returns_more_frames_than_cubic_over_a_link_with_losses(
    make_link, congestion_controls
):
    results = {}
    for name in ("cubic", "bbr"):
        if name not in congestion_controls.split():
            pytest.skip(f"this system does not offer {name}")
        link = make_link(UPLOAD, Conditions(rate=5e6, delay=0.025, loss=0.03), seed=3)
        options = ["--congestion-control", name]
        with Server(*options, within=link.command(SERVER), host=ADDRESSES[SERVER]) as server:
            results[name] = ages(link_stream.run(link, address=server.addresses["tcp"], seconds=8))
    # Measured on two busy processors: 387 and 224 of 450 frames, with medians of 88 and 242 ms.
    assert len(results["bbr"]) > 1.2 * len(results["cubic"])
    assert statistics.median(results["bbr"]) < statistics.median(results["cubic"])


def test_acknowledgements_bound_the_age_when_the_link_becomes_slower(make_link):
    oldest = {}
    for window in (0, 2):
        fast = Conditions(rate=10e6, delay=0.025)
        link = make_link(UPLOAD, fast)
        with Server(within=link.command(SERVER), host=ADDRESSES[SERVER]) as server:
            link.change(UPLOAD, replace(fast, rate=2e6), after=3)
            result = link_stream.run(
                link, address=server.addresses["tcp"], seconds=8, width=640, height=360, noise=12,
                output_window=window,
            )
        # 19 kB each: two take 150 ms at 2 Mbit/s, and the server's default of four frames 310 ms.
        oldest[window] = statistics.median(sorted(ages(result))[-20:])
    assert oldest[2] < 0.8 * oldest[0]


def test_a_congestion_control_that_the_system_lacks_is_refused():
    with pytest.raises(RuntimeError, match="transport.congestion-control|congestionControl"):
        Server("--congestion-control", "carrier-pigeon").__enter__()
