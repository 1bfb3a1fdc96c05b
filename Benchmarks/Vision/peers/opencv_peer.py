"""OpenCV from Python: the cascade in every frame, and the cascade with optical flow."""

import sys
from pathlib import Path

import cv2
import numpy as np
from peer import HEIGHT, WIDTH, serve

FOLDERS = [Path(getattr(cv2, "data").haarcascades), Path("/usr/share/opencv4/haarcascades")]
FILE = "haarcascade_frontalface_alt2.xml"
REDUCED = (320, 180)


def cascade():
    path = next(folder / FILE for folder in FOLDERS if (folder / FILE).exists())
    return cv2.CascadeClassifier(str(path))


def reduce(frame):
    return cv2.resize(frame[:HEIGHT], REDUCED, interpolation=cv2.INTER_AREA)


class DetectEach:
    """The largest face of every frame."""

    def __init__(self):
        self.finder = cascade()

    def __call__(self, frame):
        found = self.finder.detectMultiScale(reduce(frame), 1.1, 3, minSize=(22, 22))
        if len(found) == 0:
            return None
        x, y, side, _ = max(found, key=lambda box: box[2])
        return [(x + side / 2) * 4, (y + side / 2) * 4]


class Follow:
    """Lucas-Kanade on 36 points forward and back, a similarity, and the cascade around the face in
    every sixth frame."""

    def __init__(self):
        self.finder = cascade()
        self.box, self.last, self.number = None, None, 0

    def __call__(self, frame):
        luma = reduce(frame)
        if self.box is not None:
            self.follow(luma)
        if self.number % 6 == 0 or self.box is None:
            self.look(luma)
        self.last = luma
        self.number += 1
        return None if self.box is None else [self.box[0] * 4, self.box[1] * 4]

    def follow(self, luma):
        x, y, side = self.box
        steps = (np.arange(6) / 5 - 0.5) * 0.6 * side
        points = np.array(
            [[x + dx, y + dy] for dy in steps for dx in steps], np.float32)[:, None]
        options = {"winSize": (15, 15), "maxLevel": 2}
        there, good, _ = cv2.calcOpticalFlowPyrLK(self.last, luma, points, None, **options)
        back, good_back, _ = cv2.calcOpticalFlowPyrLK(luma, self.last, there, None, **options)
        kept = (good & good_back).ravel().astype(bool)
        kept &= np.abs(back - points).max(axis=(1, 2)) < 1
        if kept.sum() < 8:
            return
        matrix, _ = cv2.estimateAffinePartial2D(points[kept], there[kept], method=cv2.LMEDS)
        if matrix is None:
            return
        scale = float(np.hypot(matrix[0, 0], matrix[1, 0]))
        place = matrix @ np.array([x, y, 1])
        self.box = (float(place[0]), float(place[1]), side * scale)

    def look(self, luma):
        if self.box is None:
            found, x0, y0 = self.finder.detectMultiScale(luma, 1.1, 3, minSize=(22, 22)), 0, 0
        else:
            x, y, side = self.box
            x0, y0 = max(0, int(x - 1.1 * side)), max(0, int(y - 1.1 * side))
            window = luma[y0:int(y + 1.1 * side), x0:int(x + 1.1 * side)]
            if min(window.shape) < 24:
                return
            found = self.finder.detectMultiScale(
                window, 1.1, 3, minSize=(int(0.6 * side),) * 2, maxSize=(int(1.5 * side),) * 2)
        if len(found) == 0:
            return
        x, y, side, _ = max(found, key=lambda box: box[2])
        new = (x0 + x + side / 2, y0 + y + side / 2, float(side))
        self.box = new if self.box is None else tuple(
            old + 0.35 * (value - old) for old, value in zip(self.box, new))


if __name__ == "__main__":
    cv2.setNumThreads(1)
    serve({"detect": DetectEach, "follow": Follow}, f"OpenCV {cv2.__version__}")
