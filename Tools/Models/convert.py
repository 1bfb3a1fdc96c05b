"""Converts small float TFLite models to ONNX that OpenCV 4.6 reads.

    dev/python Tools/Models WHEEL OUTPUT

The wheel of MediaPipe is read as a zip: it is neither installed nor run. For every model of
MODELS the folder OUTPUT gets NAME.onnx, and NAME.json, which describes it to Sidelight.

Every size is fixed, and TFLite's order NHWC becomes NCHW. Outputs of rank 4 are NCHW too; outputs
of rank 2 or 3 are in TFLite's order. Weights in 16 bits and sparse ones become dense arrays of 32
bits. An operator or option that is not known here is refused.
"""

import hashlib
import json
import os
import pathlib
import struct
import sys
import zipfile

import numpy as np
import onnx
from tflite import Model, Refused

# The relative padding of a convolution: SAME keeps the size divided by the stride.
SAME = 0
# Activations that are part of another operator.
NO_ACTIVATION, RELU, RELU6 = 0, 1, 3

MATTE = {"task": "matte", "input": {"order": "RGB", "scale": 1 / 255, "mean": 0, "fit": "stretch"}}
LANDMARKS = {"task": "landmarks", "input": {"order": "RGB", "scale": 1 / 255, "mean": 0}}


def faces(anchors, threshold=0.5):
    return {
        "task": "faces",
        "input": {"order": "RGB", "scale": 1 / 127.5, "mean": 127.5, "fit": "letterbox"},
        "faces": {
            "encoding": "blazeFace", "threshold": threshold, "overlap": 0.3, "anchors": anchors,
        },
    }


# The models, and how to use them.
MODELS = {
    "selfie_segmentation": MATTE,
    "selfie_segmentation_landscape": MATTE,
    "face_detection_short_range": faces([[16, 2], [8, 6]]),
    # With 0.5 it finds patterns of backgrounds.
    "face_detection_full_range_sparse": faces([[48, 1]], threshold=0.6),
    "face_landmark": LANDMARKS,
}


def to_nchw(shape):
    return [shape[0], shape[3], shape[1], shape[2]] if len(shape) == 4 else shape


class Converter:
    """The conversion of one model."""

    def __init__(self, data):
        self.model = Model(data)
        self.graph = onnx.Graph()
        ports = self.model.inputs + self.model.outputs
        self.names = {i: self.model.tensors[i].name.split(":")[0].replace("/", "_") for i in ports}

    def convert(self, name):
        """Returns the ONNX file, and the shapes of its inputs and outputs by name."""
        for operator in self.model.operators:
            step = STEPS.get(operator.name)
            if not step:
                raise Refused(f"operator {operator.name}")
            step(self, operator, operator.inputs, operator.outputs[0])
        ports = [
            {self.names[i]: to_nchw(self.shape(i)) for i in indices}
            for indices in (self.model.inputs, self.model.outputs)
        ]
        return self.graph.serialized(name, *ports), *ports

    # --- Tensors ----------------------------------------------------------------------------------

    def shape(self, index):
        return self.model.tensors[index].shape

    def constant(self, index):
        """Returns the values of a constant."""
        value = self.model.tensors[index].value
        if value is None:
            raise Refused(f"{self.model.tensors[index].name} is not a constant")
        return value

    def name(self, index):
        return self.names.get(index, f"t{index}")

    def source(self, index):
        """Returns the name of a tensor; a constant is added to the graph in NCHW."""
        value = self.model.tensors[index].value
        if value is None:
            return self.name(index)
        value = value.astype(np.float32)
        if value.ndim == 4:
            value = value.transpose(0, 3, 1, 2)
        elif value.size > 1:
            value = value.reshape(-1, 1, 1)
        return self.graph.constant(value)

    def emit(self, kind, inputs, output, activation=NO_ACTIVATION, **attributes):
        """Adds a node that computes a tensor, and the activation that is part of it."""
        if activation == NO_ACTIVATION:
            self.graph.node(kind, inputs, self.name(output), **attributes)
        else:
            self.activate(activation, self.graph.node(kind, inputs, **attributes), output)

    def activate(self, activation, source, output):
        if activation == RELU:
            self.graph.node("Relu", [source], self.name(output))
        elif activation == RELU6:
            # 6 HardSigmoid(x / 6): OpenCV 4.6 refuses Min with a constant, and Clip with bounds
            # that are inputs.
            unit = self.graph.node("HardSigmoid", [source], alpha=1 / 6, beta=0.0)
            six = self.graph.constant(np.float32([6]))
            self.graph.node("Mul", [unit, six], self.name(output))
        else:
            raise Refused(f"activation {activation}")

    def pads(self, mode, source, output, kernel, strides, dilations=(1, 1)):
        """Returns the padding above, left, below and right. SAME puts the odd pixel after."""
        if mode != SAME:
            return [0, 0, 0, 0]
        totals = []
        for axis in (0, 1):
            needed = (self.shape(output)[axis + 1] - 1) * strides[axis]
            needed += (kernel[axis] - 1) * dilations[axis] + 1
            totals.append(max(needed - self.shape(source)[axis + 1], 0))
        return [total // 2 for total in totals] + [total - total // 2 for total in totals]

    # --- Operators --------------------------------------------------------------------------------

    def dequantize(self, operator, inputs, output):
        """Weights of 16 bits, and sparse weights, which the reader has filled up already."""
        value = self.constant(inputs[0])
        if value.dtype not in (np.float16, np.float32):
            raise Refused(f"{operator.name} of {value.dtype}")
        self.model.tensors[output].value = value

    def convolution(self, operator, inputs, output):
        options, is_depthwise = operator.options, operator.name == "DEPTHWISE_CONV_2D"
        strides = (options.number(2, "i"), options.number(1, "i"))
        # The options of depthwise convolutions have the multiplier of channels before these three.
        first = 4 if is_depthwise else 3
        activation = options.number(first, "b")
        dilations = (options.number(first + 2, "i", 1), options.number(first + 1, "i", 1))
        weights = self.constant(inputs[1]).astype(np.float32)
        weights = weights.transpose(3, 0, 1, 2) if is_depthwise else weights.transpose(0, 3, 1, 2)
        sources = [self.source(inputs[0]), self.graph.constant(weights)]
        if len(inputs) > 2 and inputs[2] >= 0:
            sources.append(self.graph.constant(self.constant(inputs[2]).astype(np.float32)))
        kernel = weights.shape[2:]
        mode = options.number(0, "b")
        self.emit(
            "Conv", sources, output, activation, kernel_shape=kernel, strides=strides,
            dilations=dilations, group=self.shape(inputs[0])[3] if is_depthwise else 1,
            pads=self.pads(mode, inputs[0], output, kernel, strides, dilations),
        )

    def transposed_convolution(self, operator, inputs, output):
        """MediaPipe's own operator. Its options are the padding, and the strides in x and y."""
        _, stride_x, stride_y = struct.unpack_from("<3i", operator.custom_options)
        weights = self.constant(inputs[1]).astype(np.float32)
        kernel, strides = weights.shape[1:3], (stride_y, stride_x)
        for axis in (0, 1):
            size = (self.shape(inputs[0])[axis + 1] - 1) * strides[axis] + kernel[axis]
            if self.shape(output)[axis + 1] != size:
                raise Refused(f"{operator.name} with padding")
        bias = self.constant(inputs[2]).astype(np.float32)
        sources = [self.source(inputs[0])]
        sources += [self.graph.constant(weights.transpose(3, 0, 1, 2)), self.graph.constant(bias)]
        self.emit(
            "ConvTranspose", sources, output, kernel_shape=kernel, strides=strides, pads=[0] * 4
        )

    def pool(self, operator, inputs, output):
        options = operator.options
        kernel = [options.number(4, "i"), options.number(3, "i")]
        strides = [options.number(2, "i"), options.number(1, "i")]
        activation = options.number(5, "b")
        pads = self.pads(options.number(0, "b"), inputs[0], output, kernel, strides)
        if operator.name == "MAX_POOL_2D":
            kind = "MaxPool"
        elif kernel == self.shape(inputs[0])[1:3] and self.shape(output)[1:3] == [1, 1]:
            self.emit("GlobalAveragePool", [self.source(inputs[0])], output, activation)
            return
        elif any(pads):
            raise Refused(f"{operator.name} with padding")
        else:
            kind = "AveragePool"
        self.emit(
            kind, [self.source(inputs[0])], output, activation, kernel_shape=kernel,
            strides=strides, pads=pads,
        )

    def mean(self, operator, inputs, output):
        axes = sorted(int(axis) % 4 for axis in self.constant(inputs[1]).ravel())
        if axes != [1, 2] or len(self.shape(output)) != 4:
            raise Refused(f"MEAN over {axes}")
        self.emit("GlobalAveragePool", [self.source(inputs[0])], output)

    def arithmetic(self, operator, inputs, output):
        # OpenCV takes the size of the result from the first operand.
        ordered = sorted(inputs, key=lambda index: -int(np.prod(self.shape(index))))
        self.emit(
            operator.name.capitalize(), [self.source(index) for index in ordered], output,
            operator.options.number(0, "b") if operator.options else NO_ACTIVATION,
        )

    def resize(self, operator, inputs, output):
        options = operator.options
        before, after = self.shape(inputs[0]), self.shape(output)
        mode = "asymmetric"
        if options.number(2, "b"):
            mode = "align_corners"
        elif options.number(3, "b"):
            mode = "half_pixel"
        scales = np.float32([1, 1, after[1] / before[1], after[2] / before[2]])
        sources = [self.source(inputs[0]), "", self.graph.constant(scales)]
        self.emit("Resize", sources, output, mode="linear", coordinate_transformation_mode=mode)

    def pad(self, operator, inputs, output):
        amounts = self.constant(inputs[1]).astype(np.int64)
        if len(self.shape(inputs[0])) == 4:
            amounts = amounts[[0, 3, 1, 2]]
        sources = [self.source(inputs[0]), self.graph.constant(amounts.T.reshape(-1))]
        self.emit("Pad", sources, output, mode="constant")

    def prelu(self, operator, inputs, output):
        slopes = self.constant(inputs[1]).astype(np.float32).reshape(-1, 1, 1)
        self.emit("PRelu", [self.source(inputs[0]), self.graph.constant(slopes)], output)

    def unary(self, operator, inputs, output):
        kinds = {"RELU": "Relu", "LOGISTIC": "Sigmoid", "HARD_SWISH": "HardSwish"}
        self.emit(kinds[operator.name], [self.source(inputs[0])], output)

    def relu6(self, operator, inputs, output):
        self.activate(RELU6, self.source(inputs[0]), output)

    def reshape(self, operator, inputs, output):
        shape, source = self.shape(output), self.source(inputs[0])
        if len(shape) == 4:
            raise Refused("RESHAPE to four dimensions")
        # The values must be in TFLite's order before they are counted through.
        if len(self.shape(inputs[0])) == 4:
            source = self.graph.node("Transpose", [source], perm=[0, 2, 3, 1])
        self.emit("Reshape", [source, self.graph.constant(np.int64(shape))], output)

    def depth_to_space(self, operator, inputs, output):
        size = operator.options.number(0, "i")
        self.emit("DepthToSpace", [self.source(inputs[0])], output, blocksize=size, mode="DCR")

    def concatenation(self, operator, inputs, output):
        options, rank = operator.options, len(self.shape(output))
        axis = options.number(0, "i") % rank
        self.emit(
            "Concat", [self.source(index) for index in inputs], output, options.number(1, "b"),
            axis=[0, 2, 3, 1][axis] if rank == 4 else axis,
        )


STEPS = {
    "ADD": Converter.arithmetic,
    "AVERAGE_POOL_2D": Converter.pool,
    "CONCATENATION": Converter.concatenation,
    "CONV_2D": Converter.convolution,
    "Convolution2DTransposeBias": Converter.transposed_convolution,
    "DENSIFY": Converter.dequantize,
    "DEPTHWISE_CONV_2D": Converter.convolution,
    "DEPTH_TO_SPACE": Converter.depth_to_space,
    "DEQUANTIZE": Converter.dequantize,
    "HARD_SWISH": Converter.unary,
    "LOGISTIC": Converter.unary,
    "MAX_POOL_2D": Converter.pool,
    "MEAN": Converter.mean,
    "MUL": Converter.arithmetic,
    "PAD": Converter.pad,
    "PRELU": Converter.prelu,
    "RELU": Converter.unary,
    "RELU6": Converter.relu6,
    "RESHAPE": Converter.reshape,
    "RESIZE_BILINEAR": Converter.resize,
}


def write(path, data):
    """Writes a file so that others see it whole or not at all."""
    unfinished = path.with_name(path.name + ".new")
    unfinished.write_bytes(data)
    os.replace(unfinished, path)


def convert(data, name, source, folder):
    """Converts one model, and returns a line about it."""
    file, inputs, outputs = Converter(data).convert(name)
    description = json.loads(json.dumps(MODELS[name]))
    picture, shape = next(iter(inputs.items()))
    description["input"] |= {
        "name": picture, "layout": "NCHW", "width": shape[3], "height": shape[2],
    }
    if description["task"] == "matte":
        description["output"] = {"name": next(iter(outputs))}
    description["about"] = {
        "source": source,
        "license": "Apache-2.0",
        "sourceSHA256": hashlib.sha256(data).hexdigest(),
        "sha256": hashlib.sha256(file).hexdigest(),
    }
    write(folder / f"{name}.onnx", file)
    write(folder / f"{name}.json", json.dumps(description, indent=2).encode() + b"\n")
    return f"{name}: {len(file)} bytes, {inputs} -> {outputs}"


def main():
    wheel, folder = map(pathlib.Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    with zipfile.ZipFile(wheel) as archive:
        paths = {pathlib.PurePosixPath(path).name: path for path in archive.namelist()}
        for name in MODELS:
            try:
                data = archive.read(paths[f"{name}.tflite"])
                print(convert(data, name, wheel.name, folder))
            except (Refused, KeyError, IndexError, struct.error, ValueError) as error:
                print(f"{name}: refused: {error}", file=sys.stderr)
                failed = True
    return 1 if failed else 0
