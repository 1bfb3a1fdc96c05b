"""The filters of the benchmark: `warm`, and `single` and `batched`, which take 8 frames, and the
mattes `person` and `people`, alike."""

import sys

import numpy as np
from warm import warm as warm_rows

from sidelight.filters_server import filter, matte, serve


@filter("warm", summary="Warms the lower half.", format="bgra")
def warm(picture) -> None:
    warm_rows(picture)


if len(sys.argv) > 1:
    import cv2
    import onnx
    import onnxruntime

    model = onnx.load(sys.argv[1])
    for port in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        port.type.tensor_type.shape.dim[0].dim_param = "pictures"
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    network = onnxruntime.InferenceSession(model.SerializeToString(), options)
    [port] = network.get_inputs()
    height, width = port.shape[2:]

    def mattes(pictures) -> list:
        small = np.stack([cv2.resize(picture, (width, height)) for picture in pictures])
        inputs = small.transpose(0, 3, 1, 2).astype(np.float32) / 255
        return list((255 * network.run(None, {port.name: inputs})[0][:, 0]).astype(np.uint8))

    def show_mattes(pictures) -> None:
        """Writes the mattes of people into grey copies of the pictures' size."""
        for picture, people in zip(pictures, mattes(pictures)):
            people = cv2.resize(people, picture.shape[1::-1])
            cv2.cvtColor(people, cv2.COLOR_GRAY2RGB, dst=picture)

    @filter("single", summary="Shows the matte.", format="rgb")
    def single(picture) -> None:
        show_mattes([picture])

    @filter("batched", summary="Shows mattes.", format="rgb", batch=8, wait="4ms")
    def batched(pictures) -> None:
        show_mattes(pictures)

    @matte("person", summary="People.", size=(width, height))
    def person(picture):
        return mattes([picture])[0]

    @matte("people", summary="People.", size=(width, height), batch=8, wait="4ms")
    def people(pictures):
        return mattes(pictures)


serve()
