"""MediaPipe's legacy solutions: faces in every frame, and the matte of its landscape model."""

import os

os.environ["GLOG_minloglevel"] = "2"

import cv2
import mediapipe as mp
from peer import HEIGHT, WIDTH, serve


def rgb(frame):
    return cv2.cvtColor(frame, cv2.COLOR_YUV2RGB_I420)


class Faces:
    model = 0

    def __init__(self):
        self.finder = mp.solutions.face_detection.FaceDetection(model_selection=self.model)

    def __call__(self, frame):
        found = self.finder.process(rgb(frame)).detections
        if not found:
            return None
        boxes = [face.location_data.relative_bounding_box for face in found]
        box = max(boxes, key=lambda box: box.width)
        return [(box.xmin + box.width / 2) * WIDTH, (box.ymin + box.height / 2) * HEIGHT]


class FarFaces(Faces):
    model = 1


class Selfie:
    def __init__(self):
        self.model = mp.solutions.selfie_segmentation.SelfieSegmentation(model_selection=1)

    def __call__(self, frame):
        return self.model.process(rgb(frame)).segmentation_mask


if __name__ == "__main__":
    cv2.setNumThreads(1)
    serve({"faces": Faces, "far-faces": FarFaces, "selfie": Selfie}, f"MediaPipe {mp.__version__}")
