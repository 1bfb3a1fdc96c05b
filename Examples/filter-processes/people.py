"""Neural networks of `make models` in ONNX Runtime: a filter for several sessions at a time, and an
analysis that counts people.

pip install onnx onnxruntime opencv-python-headless; make models
sidelight apply in.png out.png --filter-process 'python3 people.py out/models' --pipeline 'colorPop'
"""

import sys
from pathlib import Path
from typing import Annotated, Any

import cv2
import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime

from sidelight.filters_server import Detection, Range, Results, analysis, filter, serve

Pixels = npt.NDArray[np.uint8]


def network(name: str) -> tuple[onnxruntime.InferenceSession, str, tuple[int, int]]:
    """Returns a model, and the name and the width and height of its input."""
    model = onnx.load(Path(sys.argv[1]) / f"{name}.onnx")
    # The models are made for single pictures; these layers take any number.
    for port in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        port.type.tensor_type.shape.dim[0].dim_param = "pictures"
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    [port] = session.get_inputs()
    return session, port.name, (port.shape[3], port.shape[2])


# Models are loaded once, when the process starts.
matte, matte_input, matte_size = network("selfie_segmentation_landscape")
detector, detector_input, (side, _) = network("face_detection_full_range_sparse")


@filter("colorPop", summary="Keeps the colours of people only.", format="rgb", batch=8, wait="4ms")
def color_pop(
    pictures: list[Pixels],
    strength: Annotated[float, Range(0, 1), "0 changes nothing."] = 1.0,
) -> None:
    inputs = np.stack([cv2.resize(picture, matte_size) for picture in pictures])
    inputs = inputs.transpose(0, 3, 1, 2).astype(np.float32) / 255
    mattes = matte.run(None, {matte_input: inputs})[0][:, 0]
    for picture, people in zip(pictures, mattes):
        weight = 255 * (1 - strength * (1 - people))
        weight = cv2.resize(weight.astype(np.uint8), picture.shape[1::-1])
        gray = cv2.cvtColor(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
        colored = cv2.multiply(picture, cv2.merge([weight] * 3), scale=1 / 255)
        rest = cv2.multiply(gray, cv2.merge([255 - weight] * 3), scale=1 / 255)
        cv2.add(colored, rest, dst=picture)


@analysis("people", summary="The number of people whose face is visible.", every_nth=5)
def people(picture: Pixels, confidence: Annotated[float, Range(0, 1)] = 0.6) -> Results:
    # The picture keeps its aspect ratio; the rest of the input is black.
    scale = side / max(picture.shape[:2])
    width, height = (max(1, round(scale * size)) for size in picture.shape[1::-1])
    inputs = np.zeros((1, side, side, 3), np.float32)
    small = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    inputs[0, :height, :width] = small / np.float32(127.5) - 1
    [boxes], [scores] = detector.run(None, {detector_input: inputs.transpose(0, 3, 1, 2)})
    return Results(detections=(faces := found(boxes, scores[:, 0], scale, confidence)),
                   figures={"people": len(faces)})


def found(boxes: Any, scores: Any, scale: float, confidence: float) -> list[Detection]:
    """Returns the faces in the model's output: a box for every cell of a grid."""
    confidences = 1 / (1 + np.exp(-scores.clip(-50, 50)))
    count = round(len(boxes) ** 0.5)
    cells = np.indices((count, count))[::-1].reshape(2, -1).T + 0.5
    centers = (cells * side / count + boxes[:, :2]) / scale
    sizes = boxes[:, 2:4] / scale
    faces: list[Detection] = []
    for cell in np.argsort(-confidences):
        if confidences[cell] < confidence:
            break
        (x, y), (width, height) = centers[cell], sizes[cell]
        # Several cells find a face; the surest one counts.
        if not any(f.x < x < f.x + f.width and f.y < y < f.y + f.height for f in faces):
            place = (x - width / 2, y - height / 2, width, height)
            faces.append(Detection("face", 0, float(confidences[cell]), *map(float, place)))
    return faces


serve()
