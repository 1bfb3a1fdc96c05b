"""Writes ONNX files: the messages of onnx.proto in the encoding of Protocol Buffers."""

import struct

import numpy as np

# Opset 14 is the first with HardSwish.
OPSET, IR_VERSION = 14, 8
FLOAT, INT64 = 1, 7


def varint(value):
    value &= (1 << 64) - 1
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    """Returns an AttributeProto; its type follows from the value's."""
    body = text(1, name)
    if isinstance(value, float):
        body += varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    elif isinstance(value, int):
        body += number(3, value) + number(20, 2)
    elif isinstance(value, str):
        body += text(4, value) + number(20, 3)
    else:
        body += b"".join(number(8, int(item)) for item in value) + number(20, 7)
    return body


class Graph:
    """A graph that grows by nodes and constants."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, value):
        """Adds an array, and returns its name."""
        kind = FLOAT if value.dtype == np.float32 else INT64
        if kind == INT64 and value.dtype != np.int64:
            raise TypeError(f"constants of type {value.dtype}")
        name = f"c{len(self.constants)}"
        body = b"".join(number(1, size) for size in value.shape) + number(2, kind)
        raw = np.ascontiguousarray(value).astype(value.dtype.newbyteorder("<")).tobytes()
        self.constants.append(body + text(8, name) + text(9, raw))
        return name

    def node(self, kind, inputs, output=None, **attributes):
        """Adds a node with one output, and returns the name of the output."""
        output = output or f"x{len(self.nodes)}"
        body = b"".join(text(1, name) for name in inputs)
        body += text(2, output) + text(3, f"{kind}_{output}") + text(4, kind)
        body += b"".join(text(5, attribute(*item)) for item in sorted(attributes.items()))
        self.nodes.append(body)
        return output

    def serialized(self, name, inputs, outputs):
        """Returns the file. `inputs` and `outputs` are shapes by name."""
        graph = b"".join(text(1, node) for node in self.nodes) + text(2, name)
        graph += b"".join(text(5, constant) for constant in self.constants)
        for field, ports in ((11, inputs), (12, outputs)):
            for port, shape in ports.items():
                sizes = b"".join(text(1, number(1, size)) for size in shape)
                tensor = number(1, FLOAT) + text(2, sizes)
                graph += text(field, text(1, port) + text(2, text(1, tensor)))
        header = number(1, IR_VERSION) + text(2, "sidelight")
        return header + text(7, graph) + text(8, text(1, "") + number(2, OPSET))
