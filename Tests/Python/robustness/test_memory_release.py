"""Memory of past load is released while other sessions continue."""

import grpc

from sidelight_testing import images
from sidelight_testing.contract import frame_filter, service
from sidelight_testing.load import Load
from sidelight_testing.process import resident_bytes, wait_for_memory
from sidelight_testing.server import Server
from sidelight_testing.session import pipeline

SECONDS = 60


def filter_large_pictures(address: str) -> None:
    """Eight stills of 16 MiB at once."""
    request = frame_filter.ApplyRequest(
        image=images.noise("RGBA8", 2048, 2048), pipeline=pipeline("gaussianBlur")
    )
    options = [("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(address, options) as channel:
        stub = service.FrameFilterStub(channel)
        calls = [stub.Apply.future(request, timeout=SECONDS) for _ in range(8)]
        for call in calls:
            call.result()


def test_memory_of_past_load_is_released_under_load():
    with Server("--release-memory-after", "1") as server:
        address = server.addresses["tcp"]
        with Load(address, sessions=4, rate=10) as load:
            before = resident_bytes(server.process)
            # Ten times as much as all that is there otherwise.
            filter_large_pictures(address)
            wait_for_memory(server.process, before + (48 << 20))
            ended = load.finish()
        assert not ended["trouble"]
        assert ended["came"] == ended["sent"] > 0
        assert server.terminate() == 0, server.log
