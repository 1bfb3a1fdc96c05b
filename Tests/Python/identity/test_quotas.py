"""Rate limits per caller: excess frames are dropped with their reason, and counted."""

import time

import grpc
import pytest
from grpc_status import rpc_status
from sidelight_testing import images
from sidelight_testing.contract import error_details, frame_filter, service
from sidelight_testing.server import Server, connect
from sidelight_testing.session import Session

# One that the client exceeds on a busy machine too.
RATE = 5
RATE_LIMITED = 7
NEVER_DROP = 3


@pytest.fixture
def limited():
    with Server("--caller-frames-per-second", str(RATE)) as running:
        yield running
        assert running.process.poll() is None, running.log


@pytest.fixture
def limited_stub(limited):
    with connect(limited.addresses["tcp"]) as channel:
        yield service.FrameFilterStub(channel)


def test_frames_beyond_the_rate_are_dropped_and_counted(limited_stub):
    picture = images.noise("GRAY8", 8, 8)
    began = time.monotonic()
    with Session(limited_stub) as session:
        # One at a time, so frames are dropped for this reason only.
        for _ in range(200):
            session.send_frame(picture)
            while session.receive().WhichOneof("kind") not in ("frame", "dropped"):
                pass
        transcript = session.finish()
    elapsed = time.monotonic() - began
    stats = transcript.stats[-1]
    limited = sum(each.count for each in stats.dropped if each.reason == RATE_LIMITED)
    made = stats.passed_through + stats.filtered
    assert stats.received == 200 == made + limited
    assert RATE <= made <= RATE * (1 + elapsed) + 1
    assert limited > 0


def test_a_session_that_never_drops_is_slowed_down(limited_stub):
    count = 3 * RATE
    began = time.monotonic()
    with Session(limited_stub, drop_policy=NEVER_DROP) as session:
        for _ in range(count):
            session.send_frame(images.noise("GRAY8", 8, 8))
        assert len(session.finish().frames) == count
    assert time.monotonic() - began >= count / RATE - 1 - 0.1


def test_stills_beyond_the_rate_are_refused_with_limit_and_time(limited_stub):
    request = frame_filter.ApplyRequest(image=images.noise("GRAY8", 8, 8))
    with pytest.raises(grpc.RpcError) as caught:
        for _ in range(10_000):
            limited_stub.Apply(request, timeout=60)
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    quota, retry = error_details.QuotaFailure(), error_details.RetryInfo()
    details = rpc_status.from_call(caught.value).details
    assert any(each.Unpack(quota) for each in details)
    assert any(each.Unpack(retry) for each in details)
    assert quota.violations[0].subject == "ipv4:127.0.0.1"
    assert quota.violations[0].description == f"frames_per_second is {RATE}.0"
    time.sleep(retry.retry_delay.ToTimedelta().total_seconds() + 0.01)
    limited_stub.Apply(request, timeout=60)
