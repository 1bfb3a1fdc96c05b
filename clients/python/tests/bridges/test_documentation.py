"""The examples of docs/bridges.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/bridges.md"


def blocks(language: str) -> list[str]:
    """The code of the page in one language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_the_answer_of_the_aiortc_example_is_filtered(running_server):
    from .test_aiortc_calls import BRIGHT, Camera, RTCPeerConnection, luma, run, sidelight, until

    names: dict = {}
    exec(blocks("python")[0], names)

    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert") as session:
                caller = RTCPeerConnection()
                returned = []
                caller.on("track", returned.append)
                caller.addTrack(Camera())
                await caller.setLocalDescription(await caller.createOffer())
                peer = await names["answer"](caller.localDescription, session)
                await caller.setRemoteDescription(peer.localDescription)
                await until(returned[0], lambda frame: abs(luma(frame) - BRIGHT) < 6)
                await caller.close()
                await peer.close()

    run(test())


def test_the_gst_launch_line_runs(running_server):
    from .gst_support import launch

    (line,) = re.findall(r"gst-launch-1.0 (.*)", blocks("sh")[1].replace("\\\n", ""))
    for old, new in (
        ("is-live=true", "num-buffers=3"),
        ("unix:/run/sidelight.sock", running_server.unix),
        ("autovideosink", "fakesink"),
        ('"sepiaTone, vignette"', "sepiaTone,vignette"),
    ):
        assert old in line
        line = line.replace(old, new)
    assert "Got EOS" in launch(line).stdout


def test_the_gst_program_plays():
    from .gst_support import Gst

    names: dict = {}
    (code,) = (block for block in blocks("python") if "register()" in block)
    exec(code.replace("pipeline.set_state", "# pipeline.set_state"), names)
    assert names["pipeline"].get_by_name("filter").get_property("pipeline") == "sepiaTone"
    names["pipeline"].set_state(Gst.State.NULL)


def test_the_livekit_example_is_valid():
    pytest.importorskip("livekit.rtc")
    names: dict = {}
    (code,) = (block for block in blocks("python") if "livekit" in block)
    exec(code, names)
    assert callable(names["publish_filtered"])
