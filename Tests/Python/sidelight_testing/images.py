"""Images on the wire, and their samples as NumPy arrays."""

from dataclasses import dataclass

import numpy as np

from .contract import image as messages

RAW_FORMATS = ["BGRA8", "RGBA8", "RGB24", "GRAY8", "I420", "NV12"]
RGB_CHANNELS = {"BGRA8": [2, 1, 0], "RGBA8": [0, 1, 2], "RGB24": [0, 1, 2]}


@dataclass(frozen=True)
class Layout:
    """Where the rows of one plane lie."""

    offset: int
    stride: int
    row_bytes: int
    rows: int


def plane_shapes(name: str, width: int, height: int) -> list[tuple[int, int]]:
    """Bytes a row, and rows, of every plane of a raw format."""
    half_width, half_height = (width + 1) // 2, (height + 1) // 2
    return {
        "BGRA8": [(4 * width, height)],
        "RGBA8": [(4 * width, height)],
        "RGB24": [(3 * width, height)],
        "GRAY8": [(width, height)],
        "I420": [(width, height), (half_width, half_height), (half_width, half_height)],
        "NV12": [(width, height), (2 * half_width, half_height)],
    }[name]


def layouts(image) -> list[Layout]:
    """The planes of an image: as it states them, or consecutive without padding."""
    shapes = plane_shapes(format_name(image), image.width, image.height)
    if image.planes:
        return [
            Layout(plane.offset, plane.stride, *shape)
            for plane, shape in zip(image.planes, shapes, strict=True)
        ]
    result, offset = [], 0
    for row_bytes, rows in shapes:
        result.append(Layout(offset, row_bytes, row_bytes, rows))
        offset += row_bytes * rows
    return result


def format_name(image) -> str:
    """`RGB24` for PIXEL_FORMAT_RGB24."""
    return messages.PixelFormat.Name(image.format).removeprefix("PIXEL_FORMAT_")


def samples(image) -> list[np.ndarray]:
    """The samples of every plane, rows by bytes, without padding."""
    content = np.frombuffer(image.inline, dtype=np.uint8)
    result = []
    for plane in layouts(image):
        rows = [
            content[plane.offset + row * plane.stride :][: plane.row_bytes]
            for row in range(plane.rows)
        ]
        result.append(np.stack(rows))
    return result


def make_image(name: str, width: int, height: int, planes: list[np.ndarray], **fields: object):
    """An image of samples, without padding."""
    return messages.Image(
        format=messages.PixelFormat.Value(f"PIXEL_FORMAT_{name}"),
        width=width,
        height=height,
        inline=b"".join(np.ascontiguousarray(plane).tobytes() for plane in planes),
        **fields,
    )


def noise(name: str, width: int, height: int, seed: int = 1):
    """An image whose every sample is random: every value comes up, at every place."""
    random = np.random.default_rng(seed)
    planes = [
        random.integers(0, 256, (rows, row_bytes), dtype=np.uint8)
        for row_bytes, rows in plane_shapes(name, width, height)
    ]
    return make_image(name, width, height, planes)


def padded(image, padding: int = 13, gap: int = 5):
    """The same picture with padding after rows and gaps before planes, all of them noise."""
    shapes = plane_shapes(format_name(image), image.width, image.height)
    total = sum(gap + rows * (row_bytes + padding) for row_bytes, rows in shapes)
    content = np.random.default_rng(7).integers(0, 256, total, dtype=np.uint8)
    planes, offset = [], 0
    for plane in samples(image):
        rows, row_bytes = plane.shape
        offset += gap
        stride = row_bytes + padding
        planes.append(messages.Plane(offset=offset, stride=stride))
        for row in range(rows):
            content[offset + row * stride :][:row_bytes] = plane[row]
        offset += rows * stride
    result = messages.Image(
        format=image.format, width=image.width, height=image.height, planes=planes
    )
    result.inline = content.tobytes()
    return result


def rgb(image) -> np.ndarray:
    """Red, green, blue of an RGB image, or of a grey one, as rows by columns by three."""
    name = format_name(image)
    plane = samples(image)[0].reshape(image.height, image.width, -1)
    return plane[..., RGB_CHANNELS.get(name, [0, 0, 0])]


def alpha(image) -> np.ndarray:
    """The alpha of an image that has it."""
    return samples(image)[0].reshape(image.height, image.width, 4)[..., 3]


def yuv(image) -> list[np.ndarray]:
    """Luma, Cb and Cr of a 4:2:0 image."""
    planes = samples(image)
    if len(planes) == 2:
        return [planes[0], planes[1][:, 0::2], planes[1][:, 1::2]]
    return planes


def lit(image, light: tuple[float, float, float]):
    """The same picture with its red, green and blue times a light's.

    In 4:2:0 luma is darker and chroma moves towards the light, so the colours of a random
    picture stay random.
    """
    name = format_name(image)
    planes = samples(image)
    if name in RGB_CHANNELS:
        pixels = planes[0].reshape(image.height, image.width, -1).astype(np.float64)
        pixels[..., RGB_CHANNELS[name]] *= light
        changed = [pixels.reshape(planes[0].shape)]
    else:
        blue, red = np.array([light[2], light[0]]) - light[1]
        chroma = [128 + (plane.astype(np.float64) - 128) * 0.2 for plane in yuv(image)[1:]]
        tinted = [chroma[0] + 80 * blue, chroma[1] + 80 * red]
        changed = [16 + (planes[0] * (219 / 255)) * light[1], *tinted]
        if len(planes) == 2:
            changed = [changed[0], np.stack(tinted, axis=-1).reshape(planes[1].shape)]
    levels = [np.clip(np.rint(plane), 0, 255).astype(np.uint8) for plane in changed]
    result = make_image(name, image.width, image.height, levels)
    result.color.CopyFrom(image.color)
    return result


def rgb_image(colors: np.ndarray):
    """An RGB24 image of rows by columns by three."""
    height, width, _ = colors.shape
    return make_image("RGB24", width, height, [colors])
