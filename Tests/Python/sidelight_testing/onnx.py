"""Tiny ONNX models, written field by field."""

import struct

from .protobuf import field, varint

FLOAT = 1


def green(width: int | None, height: int | None) -> bytes:
    """A model of the green channel: a convolution of 1x1x3.

    Without a width or height, that side has no fixed size.
    """
    kernel = field(1, b"kernel_shape") + _number(8, 1) * 2 + _number(20, 7)
    node = field(1, b"input") + field(1, b"weights") + field(2, b"output")
    node += field(3, b"convolution") + field(4, b"Conv") + field(5, kernel)
    weights = b"".join(_number(1, size) for size in (1, 3, 1, 1)) + _number(2, FLOAT)
    weights += field(8, b"weights") + field(9, struct.pack("<3f", 0, 1, 0))
    graph = field(1, node) + field(2, b"green") + field(5, weights)
    graph += field(11, _port("input", (1, 3, height, width)))
    graph += field(12, _port("output", (1, 1, height, width)))
    return _number(1, 8) + field(7, graph) + field(8, field(1, b"") + _number(2, 13))


def _number(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def _port(name: str, sizes: tuple[int | None, ...]) -> bytes:
    shape = b"".join(
        field(1, field(2, b"any") if size is None else _number(1, size)) for size in sizes
    )
    tensor = _number(1, FLOAT) + field(2, shape)
    return field(1, name.encode()) + field(2, field(1, tensor))
