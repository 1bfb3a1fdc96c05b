"""Reports who is present in a video: faces by number, when they come and when they leave.

    ffmpeg -re -i in.mp4 -vf scale=640:-2 -pix_fmt yuv420p -f yuv4mpegpipe - |
      python attendance.py 127.0.0.1:50051

`-re` sends the video at its own pace, because the server counts seconds by its clock. Pictures do not
come back. The server must be built with Vision.
"""

from __future__ import annotations

import sys

import sidelight
from sidelight.filters import face_detection
from sidelight.y4m import Reader


def seconds_of(analysis: sidelight.Analysis, kind: str) -> dict[int, float]:
    """The seconds of the faces that are `present`, or have `left`, by their numbers."""
    faces, seconds = analysis.rows[f"{kind}Ids"], analysis.rows[f"{kind}Seconds"]
    return {int(face): time for face, time in zip(faces, seconds)}


class Attendance:
    """Prints who comes and who leaves."""

    def __init__(self) -> None:
        self.present: dict[int, float] = {}

    def update(self, event: sidelight.Event) -> None:
        """Compares an analysis with the one before it."""
        if not isinstance(event, sidelight.Analysis):
            return
        before, self.present = self.present, seconds_of(event, "present")
        left = seconds_of(event, "left")
        for face in self.present.keys() - before.keys():
            print(f"{face} is present", flush=True)
        for face in before.keys() - self.present.keys():
            print(f"{face} has left after {left.get(face, before[face]):.1f} s", flush=True)


def main(address: str) -> None:
    attendance = Attendance()
    with sidelight.connect(address) as server:
        pipeline = face_detection(every_nth=5)
        with server.session(pipeline, label="attendance", analysis_only=True) as session:
            session.on_event(attendance.update)
            for _ in session.filter_all(Reader(sys.stdin.buffer)):
                pass
    for face, seconds in attendance.present.items():
        print(f"{face} was present for {seconds:.1f} s at the end")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except sidelight.SidelightError as error:
        sys.exit(error.message)
