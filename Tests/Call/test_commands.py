"""The data channel's statistics and hints."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from aiortc.mediastreams import VideoStreamTrack

from calltesting.visitor import Visitor, awaited

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Examples/call"))

from commands import Commands, FrameRate
from sidelight import events


def analysis(filter_name, figures=None, words=None):
    """The result of a stage."""
    return events.Analysis(1, "", filter_name, 0.01, figures or {}, [], {}, words or {})


@pytest.fixture
def sent():
    """The messages to the page, after `report`."""
    listeners, messages = [], []
    session = SimpleNamespace(on_event=listeners.append)
    commands = Commands(SimpleNamespace(session=session))
    commands._channel = SimpleNamespace(
        readyState="open", bufferedAmount=0, send=lambda text: messages.append(json.loads(text))
    )
    return SimpleNamespace(messages=messages, report=listeners[0])


def test_frames_that_come_in_bursts_have_a_rate():
    rate = FrameRate()
    rate.updated(0, 0)
    # Fifteen frames a second, which all come in one of two updates.
    rates = [rate.updated(0.5 * step, 15 * (step // 2)) for step in range(1, 21)]
    assert min(rates[4:]) >= 12 and max(rates[4:]) <= 18


def test_an_update_that_is_late_has_a_rate():
    rate = FrameRate()
    rate.updated(0, 0)
    assert rate.updated(10, 150) == 15
    assert rate.updated(10.5, 150) > 0


def test_frames_that_no_longer_come_have_no_rate():
    rate = FrameRate()
    rate.updated(0, 0)
    rates = [rate.updated(0.5 * step, min(step, 4) * 8) for step in range(1, 11)]
    assert rates[3] == 16 and rates[-1] == 0


def test_the_reasons_for_hidden_frames_and_the_progress_of_plates_reach_the_page(sent):
    sent.report(analysis("faceBlur", {"wholeFrameSeconds": 2.5}, {"wholeFrame": "cameraMoves"}))
    sent.report(analysis("faceBlur", {"wholeFrameSeconds": 0}, {"wholeFrame": ""}))
    sent.report(analysis("virtualBackground", {"plateProgress": 0.4}))
    sent.report(analysis("virtualBackground", {}, {"matteError": "broken"}))
    contents = [(each["filter"], each["figures"], each["words"]) for each in sent.messages]
    assert {each["event"] for each in sent.messages} == {"analysis"}
    assert contents == [
        ("faceBlur", {"wholeFrameSeconds": 2.5}, {"wholeFrame": "cameraMoves"}),
        ("faceBlur", {"wholeFrameSeconds": 0}, {"wholeFrame": ""}),
        ("virtualBackground", {"plateProgress": 0.4}, {}),
        ("virtualBackground", {}, {"matteError": "broken"}),
    ]


def test_other_results_do_not_burden_the_data_channel(sent):
    sent.report(analysis("faceDetection", {"faces": 1}, {"searchError": "late"}))
    assert sent.messages == []


@awaited
async def test_the_progress_of_an_empty_room_reaches_the_page(call_server):
    async with Visitor(call_server.address) as ana:
        track = VideoStreamTrack()  # a still green picture
        await ana.join("red", "ana", track)
        await ana.command(command="select", text="virtualBackground(protect: false)")
        progress = []
        while not progress or progress[-1] < 1:
            analysis = await ana.next_analysis()
            assert analysis["filter"] == "virtualBackground"
            progress.append(analysis["figures"]["plateProgress"])
        assert progress[0] < 0.5 and len(progress) > 3
        track.stop()
