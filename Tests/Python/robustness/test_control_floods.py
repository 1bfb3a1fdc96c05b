"""Floods of control messages, and of others as small, by clients without credentials that send as
many as the flow-control window takes. Ten bystanders lose no frame, probes are answered in time, and
memory and processor time stay bounded."""

import time

import grpc
import pytest

from sidelight_testing.bystander import GONE_SECONDS
from sidelight_testing.contract import frame_filter, service
from sidelight_testing.floods import FLOODS, Flooder, Flooders
from sidelight_testing.impact import Impact
from sidelight_testing.process import cpu_seconds
from sidelight_testing.server import Server

# The floods go on for this time, and the harm is watched for that time after them.
FLOOD_SECONDS = 4
AFTERWARDS_SECONDS = 3
# The processor time that a server without sessions may take after the attacker has gone. The work
# that the flood left was 6 to 30 s of it.
MAX_CPU_SECONDS = 1.0
IDLE_SECONDS = 5
# The clients that flood at once.
SEVERAL = 6


@pytest.fixture
def server():
    """A separate server per test, since floods may leave memory behind."""
    with Server("--admin", "127.0.0.1:0") as running:
        yield running
        assert running.process.poll() is None, f"the server ended:\n{running.log}"


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_of_control_messages_does_not_affect_other_clients(server, name):
    with Impact(server) as impact:
        with Flooders(server.addresses["tcp"], FLOODS[name]) as flooders:
            harm = impact.watch(FLOOD_SECONDS)
        assert flooders.sent_bytes > 0
        assert harm.is_bearable, harm
        # The connection has been reset; the state it left does not slow the server either.
        harm = impact.watch(AFTERWARDS_SECONDS)
        assert harm.is_bearable, harm
        harm = impact.finish()
    assert harm.is_bearable, harm


@pytest.mark.parametrize("name", ["pings", "pauses of 64 stages", "all kinds"])
def test_six_floods_at_once_do_not_affect_other_clients(server, name):
    with Impact(server) as impact:
        with Flooders(server.addresses["tcp"], FLOODS[name], count=SEVERAL) as flooders:
            harm = impact.watch(FLOOD_SECONDS)
        assert flooders.sent_bytes > 0
        assert harm.is_bearable, harm
        harm = impact.watch(AFTERWARDS_SECONDS)
        assert harm.is_bearable, harm
        harm = impact.finish()
    assert harm.is_bearable, harm


@pytest.mark.parametrize("name", ["pings", "pauses of 64 stages"])
def test_a_flood_with_read_answers_does_not_affect_other_clients(server, name):
    with Impact(server) as impact:
        with Flooders(server.addresses["tcp"], FLOODS[name], takes_answers=True):
            harm = impact.watch(FLOOD_SECONDS)
        assert harm.is_bearable, harm
        harm = impact.watch(AFTERWARDS_SECONDS)
        assert harm.is_bearable, harm
        harm = impact.finish()
    assert harm.is_bearable, harm


@pytest.mark.parametrize("name", ["pings", "pauses of 64 stages"])
def test_a_flood_with_unread_answers_does_not_affect_other_clients(server, name):
    with Impact(server) as impact:
        with Flooders(server.addresses["tcp"], FLOODS[name]) as flooders:
            harm = impact.watch(FLOOD_SECONDS)
            flooders.stop()
            harm = impact.watch(AFTERWARDS_SECONDS)
            assert harm.is_bearable, harm
            harm = impact.finish()
    assert harm.is_bearable, harm


@pytest.mark.parametrize("end", [Flooder.reset, Flooder.cancel], ids=["reset", "cancelled"])
@pytest.mark.parametrize("name", ["pings", "pauses of 64 stages", "all kinds"])
def test_a_flooding_client_that_disconnects_leaves_no_work(server, name, end):
    with Flooder(server.addresses["tcp"], FLOODS[name]) as flooder:
        assert flooder.burst() > 0
        end(flooder)
        before = cpu_seconds(server.process)
        time.sleep(IDLE_SECONDS)
        taken = cpu_seconds(server.process) - before
        assert taken < MAX_CPU_SECONDS, f"{taken:.1f} s of processor time after the client went"
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            stub = service.FrameFilterStub(channel)
            load = stub.GetServerInfo(
                frame_filter.GetServerInfoRequest(), timeout=GONE_SECONDS
            ).load
    assert load.sessions == 0
