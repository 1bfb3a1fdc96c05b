"""Pipelines with `sidelightfilter`: in processes of `gst-launch-1.0`, and in the test's process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings

import numpy
import pytest

gi = pytest.importorskip("gi", reason="PyGObject comes with the system's Python only")
with warnings.catch_warnings():
    # PyGObject's importer is older than this Python.
    warnings.simplefilter("ignore", ImportWarning)
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst

    import sidelight._gst_frames
    import sidelight.gst

sidelight.gst.register()

SECONDS = 60
_REGISTRY = tempfile.TemporaryDirectory(prefix="sidelight-gst-")


def launch(*pipeline: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Runs `gst-launch-1.0`, which loads the element with GStreamer's loader of Python plug-ins."""
    environment = {
        **os.environ,
        "GST_PLUGIN_PATH": sidelight.gst.plugin_path(),
        # The registry of the user remembers plug-in files that could not be imported once.
        "GST_REGISTRY": f"{_REGISTRY.name}/registry.bin",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    result = subprocess.run(
        ["gst-launch-1.0", *" ".join(pipeline).split()],
        env=environment,
        timeout=SECONDS,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert not check or result.returncode == 0, result.stdout
    return result


class Player:
    """A pipeline from the test through `sidelightfilter` back to the test, frame by frame."""

    def __init__(self, caps: str, **properties: object) -> None:
        self.pipeline = Gst.parse_launch(
            f"appsrc name=source format=time caps=\"{caps}\" ! sidelightfilter name=filter "
            "! appsink name=sink sync=false max-buffers=4 emit-signals=false"
        )
        self.source, self.filter, self.sink = (
            self.pipeline.get_by_name(name) for name in ("source", "filter", "sink")
        )
        for name, value in properties.items():
            self.filter.set_property(name.replace("_", "-"), value)
        self.bus = self.pipeline.get_bus()
        #: The timestamp of the last buffer.
        self.time = 0

    def __enter__(self) -> Player:
        self.pipeline.set_state(Gst.State.PLAYING)
        return self

    def __exit__(self, *_: object) -> None:
        self.pipeline.set_state(Gst.State.NULL)

    def push(self, data: bytes) -> int:
        """Pushes a buffer; returns its timestamp."""
        buffer = Gst.Buffer.new_wrapped(data)
        self.time += Gst.SECOND // 30
        buffer.pts, buffer.duration = self.time, Gst.SECOND // 30
        assert self.source.emit("push-buffer", buffer) == Gst.FlowReturn.OK
        return self.time

    def pull(self) -> tuple[int, bytes]:
        """Returns the timestamp and the bytes of the next buffer."""
        sample = self.sink.emit("try-pull-sample", SECONDS * Gst.SECOND)
        assert sample is not None, self.errors()
        buffer = sample.get_buffer()
        return buffer.pts, buffer.extract_dup(0, buffer.get_size())

    def filtered(self, data: bytes) -> bytes:
        """Returns the output for a buffer, which must have the buffer's timestamp."""
        time = self.push(data)
        at, result = self.pull()
        assert at == time
        return result

    def finish(self) -> None:
        """Ends the stream, after which no buffer may come."""
        self.source.emit("end-of-stream")
        assert self.sink.emit("try-pull-sample", SECONDS * Gst.SECOND) is None
        assert self.sink.get_property("eos")

    def message(self, kind: Gst.MessageType, name: str = "") -> Gst.Message:
        """Waits for a message of a kind, and for element messages of a name."""
        while True:
            message = self.bus.timed_pop_filtered(SECONDS * Gst.SECOND, kind)
            assert message is not None, f"no {name or kind.first_value_nick} message"
            if not name or message.get_structure().get_name() == name:
                return message

    def errors(self) -> str:
        """The error on the bus, or a text about its absence."""
        message = self.bus.pop_filtered(Gst.MessageType.ERROR)
        return message.parse_error()[0].message if message else "no error on the bus"


def planes(name: str, width: int, height: int, data: bytes) -> list[numpy.ndarray]:
    """The planes of a GStreamer buffer of default layout, without padding.

    GStreamer pads rows to multiples of 4 bytes.
    """
    half_width, half_height = -(-width // 2), -(-height // 2)
    rows = {
        "I420": [(width, height), (half_width, half_height), (half_width, half_height)],
        "NV12": [(width, height), (2 * half_width, half_height)],
        "BGRA": [(4 * width, height)],
        "RGBA": [(4 * width, height)],
        "RGB": [(3 * width, height)],
        "GRAY8": [(width, height)],
    }[name]
    result, offset = [], 0
    for index, (length, count) in enumerate(rows):
        stride = -(-length // 4) * 4
        # The luma plane of I420 and NV12 has an even number of rows.
        stored = count + count % 2 if name in ("I420", "NV12") and index == 0 else count
        plane = numpy.frombuffer(data, numpy.uint8, stride * stored, offset)
        result.append(plane.reshape(stored, stride)[:count, :length])
        offset += stride * stored
    assert offset == len(data)
    return result
