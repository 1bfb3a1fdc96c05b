"""A Python element of GStreamer between a source and a sink, for a number of frames.

    gst_element.py COUNT [identity]

Prints the processor time per frame and the median and 99th percentile of the element's time, in
milliseconds. With `identity` the element is GStreamer's own, which does nothing.
"""

import sys
import time

import gi
import numpy as np
from warm import FRAME_RATE, HEIGHT, WIDTH, warm

for library in ("Gst", "GstBase"):
    gi.require_version(library, "1.0")
from gi.repository import Gst, GstBase  # noqa: E402

Gst.init(None)
CAPS = f"video/x-raw,format=BGRA,width={WIDTH},height={HEIGHT},framerate={FRAME_RATE}/1"
times = []


class Warm(GstBase.BaseTransform):
    __gstmetadata__ = ("Warm", "Filter/Video", "Warms the lower half", "Sidelight")
    __gsttemplates__ = tuple(
        Gst.PadTemplate.new(name, direction, Gst.PadPresence.ALWAYS, Gst.Caps.from_string(CAPS))
        for name, direction in (("src", Gst.PadDirection.SRC), ("sink", Gst.PadDirection.SINK))
    )

    def do_transform_ip(self, buffer):
        started = time.perf_counter()
        with buffer.map(Gst.MapFlags.READ | Gst.MapFlags.WRITE) as content:
            warm(np.ndarray((HEIGHT, WIDTH, 4), np.uint8, content.data))
        times.append(time.perf_counter() - started)
        return Gst.FlowReturn.OK


count = int(sys.argv[1])
pipeline = Gst.parse_launch(
    f"videotestsrc is-live=true pattern=black num-buffers={count} name=source ! {CAPS} "
    "! identity name=before ! fakesink name=sink sync=false"
)
if "identity" not in sys.argv:
    source, before, sink = (pipeline.get_by_name(name) for name in ("source", "before", "sink"))
    element = Warm()
    pipeline.add(element)
    before.unlink(sink)
    before.link(element)
    element.link(sink)
started = time.process_time()
pipeline.set_state(Gst.State.PLAYING)
message = pipeline.get_bus().timed_pop_filtered(
    Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR
)
if message.type == Gst.MessageType.ERROR:
    sys.exit(str(message.parse_error()))
cost = (time.process_time() - started) / count
pipeline.set_state(Gst.State.NULL)
median, tail = np.percentile(times, [50, 99]) if times else (0, 0)
print(f"{cost * 1000:.3f} {median * 1000:.3f} {tail * 1000:.3f}")
