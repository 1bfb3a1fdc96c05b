"""Reads TFLite files: the tensors and operators of a model with one graph.

The format is a FlatBuffer: a table begins with the distance to its list of fields, which has the
offset of every field within the table, and 0 for fields that are left out. The numbers of the
fields follow TensorFlow's schema. TensorFlow is not required.
"""

import dataclasses
import struct

import numpy as np


class Refused(Exception):
    """The reason why a model is not converted."""


# The operators that the models use, by their numbers in the schema.
OPERATORS = {
    0: "ADD", 1: "AVERAGE_POOL_2D", 2: "CONCATENATION", 3: "CONV_2D", 4: "DEPTHWISE_CONV_2D",
    5: "DEPTH_TO_SPACE", 6: "DEQUANTIZE", 14: "LOGISTIC", 17: "MAX_POOL_2D", 18: "MUL", 19: "RELU",
    21: "RELU6", 22: "RESHAPE", 23: "RESIZE_BILINEAR", 32: "CUSTOM", 34: "PAD", 40: "MEAN",
    54: "PRELU", 117: "HARD_SWISH", 124: "DENSIFY",
}
# The types of tensors, by their numbers in the schema. Quantized types are left out.
TYPES = {0: np.float32, 1: np.float16, 2: np.int32, 4: np.int64}


class Table:
    """A table of a FlatBuffer."""

    def __init__(self, data, position):
        self.data, self.position = data, position
        self.fields = position - self._unpack("<i", position)
        self.field_count = (self._unpack("<H", self.fields) - 4) // 2

    def _unpack(self, code, position):
        return struct.unpack_from(code, self.data, position)[0]

    def _find(self, field):
        """Returns the position of a field, and None if it is left out."""
        if field >= self.field_count:
            return None
        offset = self._unpack("<H", self.fields + 4 + 2 * field)
        return self.position + offset if offset else None

    def _follow(self, position):
        return position + self._unpack("<I", position)

    def number(self, field, code, default=0):
        """Returns a number; `code` is its type as in the module struct."""
        position = self._find(field)
        return default if position is None else self._unpack("<" + code, position)

    def table(self, field):
        position = self._find(field)
        return None if position is None else Table(self.data, self._follow(position))

    def tables(self, field):
        position = self._find(field)
        if position is None:
            return []
        start = self._follow(position)
        places = (start + 4 + 4 * i for i in range(self._unpack("<I", start)))
        return [Table(self.data, self._follow(place)) for place in places]

    def array(self, field, dtype):
        position = self._find(field)
        if position is None:
            return np.zeros(0, dtype)
        start = self._follow(position)
        count = self._unpack("<I", start)
        return np.frombuffer(self.data, np.dtype(dtype).newbyteorder("<"), count, start + 4)

    def text(self, field):
        return self.array(field, np.uint8).tobytes().decode()


@dataclasses.dataclass
class Tensor:
    name: str
    shape: list[int]
    # The values of a constant, else None.
    value: np.ndarray | None


@dataclasses.dataclass
class Operator:
    name: str
    inputs: list[int]
    outputs: list[int]
    options: Table | None
    custom_options: bytes


class Model:
    """The graph of a TFLite file."""

    def __init__(self, data):
        if data[4:8] != b"TFL3":
            raise Refused("it is not a TFLite file")
        root = Table(data, struct.unpack_from("<I", data)[0])
        graphs = root.tables(2)
        if len(graphs) != 1:
            raise Refused(f"it has {len(graphs)} graphs")
        codes, buffers = root.tables(1), root.tables(4)
        self.tensors = [self._tensor(table, buffers) for table in graphs[0].tables(0)]
        self.inputs = graphs[0].array(1, np.int32).tolist()
        self.outputs = graphs[0].array(2, np.int32).tolist()
        self.operators = [self._operator(table, codes) for table in graphs[0].tables(3)]

    def _tensor(self, table, buffers):
        shape = table.array(0, np.int32).tolist()
        data = buffers[table.number(2, "I")].array(0, np.uint8)
        value = None
        if len(data):
            kind = table.number(1, "b")
            if kind not in TYPES:
                raise Refused(f"the tensor {table.text(3)} has type {kind}: it is quantized")
            value = np.frombuffer(data.tobytes(), TYPES[kind])
            sparsity = table.table(6)
            value = densified(value, shape, sparsity) if sparsity else value.reshape(shape)
        return Tensor(table.text(3), shape, value)

    def _operator(self, table, codes):
        code = codes[table.number(0, "I")]
        # Numbers above 127 are in a separate field.
        number = max(code.number(0, "b"), code.number(3, "i"))
        name = OPERATORS.get(number, f"number {number}")
        if name == "CUSTOM":
            name = code.text(1)
        return Operator(
            name,
            table.array(1, np.int32).tolist(),
            table.array(2, np.int32).tolist(),
            table.table(4),
            table.array(5, np.uint8).tobytes(),
        )


def densified(values, shape, sparsity):
    """Returns a sparse constant as a full array.

    The dimensions are stored in any order, blocks last. Each is dense, or lists
    the places that are not empty (compressed sparse rows).
    """
    order = sparsity.array(0, np.int32).tolist()
    blocks = sparsity.array(1, np.int32).tolist()
    rank = len(shape)
    levels = []
    for table in sparsity.tables(2):
        is_sparse = table.number(0, "b") == 1
        levels.append(
            (_indices(table, 2), _indices(table, 4)) if is_sparse else table.number(1, "i")
        )
    block_size = {rank + i: levels[order.index(rank + i)] for i in range(len(blocks))}

    result = np.zeros(shape, values.dtype)
    remaining = iter(values)

    def visit(level, place, index):
        if level == len(order):
            full = [index[axis] for axis in range(rank)]
            for i, axis in enumerate(blocks):
                full[axis] = full[axis] * block_size[rank + i] + index[rank + i]
            result[tuple(full)] = next(remaining)
            return
        if isinstance(levels[level], int):
            steps = ((place * levels[level] + i, i) for i in range(levels[level]))
        else:
            segments, indices = levels[level]
            steps = ((i, indices[i]) for i in range(segments[place], segments[place + 1]))
        for next_place, i in steps:
            visit(level + 1, next_place, {**index, order[level]: i})

    visit(0, 0, {})
    return result


def _indices(table, field):
    """Returns the indices of a sparse dimension, which have one of three types."""
    dtype = {1: np.int32, 2: np.uint16, 3: np.uint8}[table.number(field, "B")]
    return table.table(field + 1).array(0, dtype).tolist()
