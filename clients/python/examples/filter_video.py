"""Filters a video, every frame; through shared memory if the server is on this host and offers it.

    ffmpeg -i in.mp4 -pix_fmt yuv420p -f yuv4mpegpipe - |
      python filter_video.py unix:/run/sidelight.sock 'sepiaTone(intensity: 0.8), vignette' |
      ffmpeg -i - out.mp4
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import sidelight
from sidelight.y4m import Reader, Writer


def frames(video: Reader, session: sidelight.Session) -> Iterator[sidelight.Frame]:
    """Reads every picture directly into a slot of shared memory, if the session has any."""
    while True:
        frame = session.frame(video.width, video.height, video.format, color=video.color)
        if video.read(frame.image) is None:
            return
        yield frame


def main(address: str, pipeline: str) -> None:
    video = Reader(sys.stdin.buffer)
    result = Writer(sys.stdout.buffer, video.header)
    with sidelight.connect(address) as server:
        with server.session(pipeline, label="video", drop_policy="never_drop") as session:
            for outcome in session.filter_all(frames(video, session)):
                if isinstance(outcome, sidelight.Dropped):
                    print(f"frame {outcome.sequence} was dropped: {outcome}", file=sys.stderr)
                    continue
                with outcome:  # Gives its slot of shared memory back.
                    result.write(outcome.image)
            latency = session.latency
            print(
                f"{session.counts.filtered} frames filtered, "
                f"{'in shared memory' if session.uses_shared_memory else 'inline'}, "
                f"median round trip {latency.p50 * 1000:.1f} ms",
                file=sys.stderr,
            )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: filter_video.py ADDRESS PIPELINE <in.y4m >out.y4m")
    try:
        main(*sys.argv[1:])
    except sidelight.SidelightError as error:
        sys.exit(str(error))
