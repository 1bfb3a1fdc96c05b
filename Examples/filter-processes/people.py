"""People, by neural networks of `make models` in ONNX Runtime: a matte for several sessions at a time,
a face finder for all filters that need faces, and an analysis that counts people.

pip install onnx onnxruntime opencv-python-headless; make models
sidelight apply in.png out.png --filter-process 'python3 people.py out/models' \
    --pipeline 'virtualBackground(matte: person, backgroundColor: #1e3c50)'
sidelight apply in.png out.png --filter-process 'python3 people.py out/models' --pipeline faceBlur
"""

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from sidelight.filters_server import (
    Detection, Face, Range, Results, analysis, face_finder, matte, serve
)

try:
    import cv2
    import onnx
    import onnxruntime
except ModuleNotFoundError as error:
    sys.exit(f"{error}: pip install onnx onnxruntime opencv-python-headless")

Pixels = npt.NDArray[np.uint8]


def network(name: str) -> tuple[onnxruntime.InferenceSession, str, tuple[int, int]]:
    """Returns a model, and the name and the width and height of its input."""
    path = Path(*sys.argv[1:2]) / f"{name}.onnx"
    if not path.exists():
        sys.exit(f"there is no {path}: run 'make models', and start: python3 people.py out/models")
    model = onnx.load(path)
    # The models are made for single pictures; these layers take any number.
    for port in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        port.type.tensor_type.shape.dim[0].dim_param = "pictures"
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    [port] = session.get_inputs()
    return session, port.name, (port.shape[3], port.shape[2])


# Models are loaded once, when the process starts.
segmenter, segmenter_input, matte_size = network("selfie_segmentation_landscape")
detector, detector_input, (side, _) = network("face_detection_full_range_sparse")


@matte("person", summary="People, by selfie segmentation.", size=matte_size, batch=8, wait="4ms")
def person(pictures: list[Pixels]) -> list[Pixels]:
    inputs = np.stack([cv2.resize(picture, matte_size) for picture in pictures])
    inputs = inputs.transpose(0, 3, 1, 2).astype(np.float32) / 255
    mattes = segmenter.run(None, {segmenter_input: inputs})[0][:, 0]
    return list((255 * mattes).round().astype(np.uint8))


@face_finder("blazeFace", summary="Faces, by BlazeFace.")
def blaze_face(picture: Pixels) -> list[Face]:
    return found(picture, 0.6)


@analysis("people", summary="The number of people whose face is visible.", every_nth=5)
def people(picture: Pixels, confidence: Annotated[float, Range(0, 1)] = 0.6) -> Results:
    faces = found(picture, confidence)
    boxes = [Detection("face", 0, f.confidence, f.x, f.y, f.width, f.height) for f in faces]
    return Results(detections=boxes, figures={"people": len(faces)})


def found(picture: Pixels, confidence: float) -> list[Face]:
    """Returns the faces in a picture, from the model's box and points for every cell of a grid."""
    # The picture keeps its aspect ratio; the rest of the input is black.
    scale = side / max(picture.shape[:2])
    width, height = (max(1, round(scale * size)) for size in picture.shape[1::-1])
    inputs = np.zeros((1, side, side, 3), np.float32)
    small = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    inputs[0, :height, :width] = small / np.float32(127.5) - 1
    outputs: Any = detector.run(None, {detector_input: inputs.transpose(0, 3, 1, 2)})
    [values], [[scores]] = outputs[0], outputs[1].transpose(0, 2, 1)
    confidences = 1 / (1 + np.exp(-scores.clip(-50, 50)))
    count = round(len(values) ** 0.5)
    cells = (np.indices((count, count))[::-1].reshape(2, -1).T + 0.5) * side / count
    # The middle, both eyes, the nose and the mouth, relative to the cell.
    points = (values[:, [0, 1, *range(4, 12)]].reshape(-1, 5, 2) + cells[:, np.newaxis]) / scale
    sizes = values[:, 2:4] / scale
    faces: list[Face] = []
    for cell in np.argsort(-confidences):
        if confidences[cell] < confidence:
            break
        x, y = map(float, points[cell, 0])
        w, h = map(float, sizes[cell])
        # Several cells find a face; the surest one counts.
        if not any(f.x < x < f.x + f.width and f.y < y < f.y + f.height for f in faces):
            marks = points[cell, [1, 2, 4]].tolist()
            faces.append(Face(x - w / 2, y - h / 2, w, h, float(confidences[cell]), marks))
    return faces


serve()
