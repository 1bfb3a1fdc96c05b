"""Rows 12, 14, 15: loss, identity, soak test."""

import base64
import os
import subprocess
import sys
from pathlib import Path

import grpc

import soak as soak_test
from sidelight_testing.contract import TESTS
from sidelight_testing.resuming import LOST, ResumingClient
from sidelight_testing.server import Server

from .row import Row, Settings, not_measured

IDENTITY_TESTS = ("test_identity*.py", "test_tls*.py", "test_quotas*.py")


def resuming(settings: Settings) -> Row:
    """Row 12: repeated kill -9 of a server during a stream."""
    rounds = int(settings.either(4, 20))
    gaps, lost, frames, failures = [], 0, 0, []
    settings.scratch.mkdir(parents=True, exist_ok=True)
    keys = settings.scratch / "resume-keys"
    keys.touch(mode=0o600)
    keys.write_text(f"fleet:{base64.b64encode(os.urandom(32)).decode()}\n")
    for _ in range(rounds):
        with (
            Server("--resume-keys-file", keys) as first,
            Server("--resume-keys-file", keys) as other,
        ):
            both = f"ipv4:{first.addresses['tcp']},{other.addresses['tcp']}"
            options = [
                ("grpc.use_local_subchannel_pool", 1),
                ("grpc.initial_reconnect_backoff_ms", 100),
            ]
            with grpc.insecure_channel(both, options) as channel:
                with ResumingClient(channel, rate=60) as client:
                    client.wait_until(lambda client: client.filtered > 3, 30)
                    client.select_inversion()
                    client.wait_until(lambda client: client.is_selected, 30)
                    first.process.kill()
                    client.wait_until(lambda client: client.resumptions, 30)
                    before = client.filtered
                    client.wait_until(lambda client: client.filtered > before + 3, 30)
            try:
                client.verify()
                [resumption] = client.resumptions
                assert resumption.revision == 2, resumption
                gaps.append(resumption.seconds)
                lost += sum(each == LOST for each in client.outcomes.values())
            except AssertionError as fault:
                failures.append(str(fault))
            frames += len(client.outcomes)
    keys.unlink()
    return Row(
        12,
        "resume within 30 s restores the pipeline; every lost frame is reported",
        f"{rounds - len(failures)} of {rounds} sessions resumed with their pipeline, "
        f"{max(gaps, default=0):.2f} s after "
        f"the loss at most; {frames:,} frames, each with its outcome or among the {lost} that the "
        "client "
        f"reports as lost" + (f"; {failures}" if failures else ""),
        "all, 30 s",
        not failures and max(gaps, default=99) < 30,
        "`kill -9` of a server during a stream, another server with the same keys; with HAProxy: "
        "`test_haproxy.py`",
    )


def identity(settings: Settings) -> Row:
    """Row 14: the tests of identity."""
    objective = "authentication before allocation, on every RPC; it fails closed; certificates reload"
    folder = TESTS / "identity"
    files = sorted(str(path) for pattern in IDENTITY_TESTS for path in folder.glob(pattern))
    if not files:
        return not_measured(
            14, objective, "every row on identity", "there are no tests of identity here"
        )
    found = subprocess.run(
        [sys.executable, "-m", "pytest", *files],
        cwd=TESTS,
        capture_output=True,
        text=True,
        timeout=300,
    )
    last = found.stdout.strip().splitlines()[-1].strip("= ") if found.stdout.strip() else "no tests"
    names = ", ".join(f"`{Path(each).name}`" for each in files)
    return Row(14, objective, last, "all pass", found.returncode == 0, names + "; `IdentityTests`")


def soak(settings: Settings) -> Row:
    """Row 15: a short form of `make bench PART=soak`."""
    minutes = settings.either(0.25, 2)
    with Server() as server:
        found = soak_test.run_soak_test(server, minutes)
    return Row(
        15,
        "soak at 70 %: RSS slope < 1 MiB/h, descriptors flat, p99 steady",
        f"{minutes:g} min: RSS {found.slope:+.1f} MiB/h, standard error {found.slope_error:.1f}; "
        "descriptors "
        f"{found.descriptors_gained:+d}; p99 of the last third {found.drift:.2f} times that of the first"
        + "".join(f"; {each}" for each in found.failures),
        f"1 MiB/h beyond two standard errors; {soak_test.MAX_DESCRIPTORS}; "
        f"{soak_test.MAX_DRIFT:g} times",
        not found.failures,
        "a short form of `make bench PART=soak`",
    )
