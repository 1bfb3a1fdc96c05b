"""Filters that use assets, compared with NumPy over gRPC, for frames and stills.

Within one level of 255 where an image has the frame's size, two where it is resampled.
"""

import math

import grpc
import numpy as np
import pytest

from sidelight_testing import (
    assets, blend_oracles, compositing, formulas, images, lens_oracles, reduction_oracles,
    warp_oracles,
)
from sidelight_testing.contract import assets as messages
from sidelight_testing.contract import assets_service, catalogue, frame_filter, service
from sidelight_testing.contract import image as image_messages
from sidelight_testing.contract import session as session_messages
from sidelight_testing.session import Session, pipeline

WIDTH, HEIGHT = 62, 46
ALPHA_MODES = ["OPAQUE", "STRAIGHT", "PREMULTIPLIED"]

RANDOM = np.random.default_rng(3)
# With every alpha, and colours that are seen through it.
VEIL = RANDOM.integers(0, 256, (HEIGHT, WIDTH, 4), dtype=np.uint8)
GROUND = RANDOM.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
MASK = RANDOM.integers(0, 256, (HEIGHT, WIDTH, 4), dtype=np.uint8)
PAPER = RANDOM.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
SMALL = np.concatenate(
    [RANDOM.integers(0, 256, (5, 7, 3)), RANDOM.integers(128, 256, (5, 7, 1))], axis=-1
).astype(np.uint8)
LARGE = assets.sticker(96)


def bent_table(size: int) -> np.ndarray:
    """Returns a table that differs much from the identity, and is not linear."""
    axis = np.linspace(0, 1, size)
    blue, green, red = np.meshgrid(axis, axis, axis, indexing="ij")
    return np.stack([red**2 * (1 - 0.5 * blue), np.sqrt(green), np.abs(blue - red)], axis=-1)


TABLES = {f"bent{size}": bent_table(size) for size in (2, 5, 17)}


@pytest.fixture(scope="module")
def stub(server):
    """A caller that uploads the assets of these tests, and deletes them afterwards."""
    files = {
        "veil": assets.png(VEIL), "ground": assets.png(GROUND), "mask": assets.png(MASK),
        "paper": assets.png(PAPER),
        "small": assets.png(SMALL), "large": assets.png(LARGE),
    }
    files |= {name: assets.cube_file(table) for name, table in TABLES.items()}
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        asset_stub = assets_service.AssetsStub(channel)
        for name, content in files.items():
            assets.put(asset_stub, name, content)
        yield service.FrameFilterStub(channel)
        for name in files:
            asset_stub.DeleteAsset(messages.DeleteAssetRequest(name=name))


def apply(stub, image, *wanted):
    request = frame_filter.ApplyRequest(image=image, pipeline=pipeline(*wanted))
    return stub.Apply(request, timeout=60).image


def image_of(alpha_mode: str):
    """A BGRA image of noise; premultiplied colours are at most their alpha."""
    image = images.noise("BGRA8", WIDTH, HEIGHT, seed=11)
    pixels = images.samples(image)[0].reshape(HEIGHT, WIDTH, 4).copy()
    if alpha_mode == "PREMULTIPLIED":
        pixels[..., :3] = np.minimum(pixels[..., :3], pixels[..., 3:])
    image = images.make_image("BGRA8", WIDTH, HEIGHT, [pixels.reshape(HEIGHT, -1)])
    image.color.alpha = image_messages.AlphaMode.Value(f"ALPHA_MODE_{alpha_mode}")
    return image


def layer_of(image, alpha_mode: str) -> np.ndarray:
    colors, alpha = images.rgb(image), images.alpha(image)
    if alpha_mode == "OPAQUE":
        return compositing.layer(colors)
    if alpha_mode == "STRAIGHT":
        return compositing.layer(colors, alpha)
    return np.concatenate([colors, alpha[..., None]], axis=-1) / 255.0


def greatest_difference(actual: np.ndarray, expected: np.ndarray) -> float:
    """In levels, of premultiplied colour and alpha."""
    return float(np.abs(actual - np.clip(expected, 0, 1)).max() * 255)


VEIL_LAYER, GROUND_LAYER, MASK_LAYER = map(compositing.picture, (VEIL, GROUND, MASK))
NOTHING = np.zeros((HEIGHT, WIDTH, 4))


def stretched(source: np.ndarray, *rectangle: int) -> np.ndarray:
    return compositing.placed(compositing.picture(source), (HEIGHT, WIDTH), *rectangle)


PALETTE = compositing.placed(compositing.picture(LARGE), (1, 5), 0, 0, 5, 1)
# Name, parameters, formula of the frame's layer, levels.
FILTERS = {
    "paletteCentroid": (
        "paletteCentroid", {"paletteImage": "large", "count": 5},
        reduction_oracles.palette_centroid(PALETTE), 1,
    ),
    "paletteCentroid, perceptual": (
        "paletteCentroid", {"paletteImage": "large", "count": 5, "perceptual": True},
        reduction_oracles.palette_centroid(PALETTE, perceptual=True), 1,
    ),
    "overlay": (
        "overlay", {"asset": "veil"}, lambda s: compositing.over(VEIL_LAYER, s), 1,
    ),
    "overlay, half seen": (
        "overlay", {"asset": "veil", "opacity": 0.5},
        lambda s: compositing.over(0.5 * VEIL_LAYER, s), 1,
    ),
    "overlay, enlarged": (
        "overlay",
        {"asset": "small", "origin": [6, 3], "width": 35.0, "height": 30.0, "fit": "stretch"},
        lambda s: compositing.over(stretched(SMALL, 6, 3, 35, 30), s), 2,
    ),
    "overlay, reduced": (
        "overlay", {"asset": "large", "origin": [10, 4], "width": 40.0, "height": 40.0},
        lambda s: compositing.over(stretched(LARGE, 10, 4, 40, 40), s), 2,
    ),
    "overlay, fitted": (
        # A square in a wide rectangle: as high as it, in its middle.
        "overlay", {"asset": "large", "origin": [4, 10], "width": 50.0, "height": 32.0},
        lambda s: compositing.over(stretched(LARGE, 13, 10, 32, 32), s), 2,
    ),
    "overlay, scaled about its middle and moved": (
        "overlay",
        {"asset": "large", "origin": [10, 4], "width": 16.0, "height": 16.0, "scale": 2.0,
         "offset": [12, 9]},
        lambda s: compositing.over(stretched(LARGE, 14, 5, 32, 32), s), 2,
    ),
    "sourceOverCompositing": (
        "sourceOverCompositing", {"backgroundImage": "veil"},
        lambda s: compositing.over(s, VEIL_LAYER), 1,
    ),
    "sourceOverCompositing, opaque": (
        "sourceOverCompositing", {"backgroundImage": "ground"},
        lambda s: compositing.over(s, GROUND_LAYER), 1,
    ),
    "multiplyCompositing": (
        "multiplyCompositing", {"backgroundImage": "veil"},
        lambda s: compositing.multiply(s, VEIL_LAYER), 1,
    ),
    "screenBlendMode": (
        "screenBlendMode", {"backgroundImage": "veil"},
        lambda s: compositing.screen(s, VEIL_LAYER), 1,
    ),
    "lumaKey": (
        "lumaKey", {"low": 0.2, "high": 0.7, "backgroundImage": "veil", "fit": "stretch"},
        lambda s: compositing.luma_key(s, VEIL_LAYER, 0.2, 0.7), 1,
    ),
    "lumaKey, inverted": (
        "lumaKey", {"low": 0.3, "high": 0.9, "invert": True, "backgroundColor": [0.2, 0.5, 0.9, 0.7]},
        lambda s: compositing.luma_key(
            s, np.broadcast_to([0.14, 0.35, 0.63, 0.7], s.shape), 0.9, 0.3), 1,
    ),
    "blendWithMask": (
        "blendWithMask", {"maskImage": "mask", "backgroundImage": "veil"},
        lambda s: compositing.mask_blend(s, VEIL_LAYER, MASK_LAYER), 1,
    ),
    "blendWithMask, before nothing": (
        "blendWithMask", {"maskImage": "mask"},
        lambda s: compositing.mask_blend(s, NOTHING, MASK_LAYER), 1,
    ),
}


def beside(formula, layer=VEIL_LAYER):
    return lambda s: formula(s, layer)


# Levels of blend modes that magnify the rounding of pictures, by division.
STEEP = {"colorDodgeBlendMode": 2, "luminosityBlendMode": 8}
# Two pictures: name, parameters, formula of both layers, levels.
PAIRS = {
    **{
        name: (name, {}, formula, STEEP.get(name, 1))
        for name, formula in blend_oracles.BLENDS.items()
    },
    "mix": ("mix", {"amount": 0.3}, lambda s, b: blend_oracles.mixed(s, b, 0.3), 1),
    "blendWithAlphaMask": (
        "blendWithAlphaMask", {"maskImage": "mask"},
        lambda s, b: blend_oracles.mixed(s, b, MASK_LAYER[..., 3:]), 1,
    ),
    "blendWithRedMask": (
        "blendWithRedMask", {"maskImage": "mask"},
        lambda s, b: blend_oracles.mixed(s, b, MASK_LAYER[..., :1]), 1,
    ),
    "blendWithBlueMask": (
        "blendWithBlueMask", {"maskImage": "mask"},
        lambda s, b: blend_oracles.mixed(s, b, MASK_LAYER[..., 2:3]), 1,
    ),
    "colorAbsoluteDifference": (
        "colorAbsoluteDifference", {}, blend_oracles.absolute_difference, 1,
    ),
    "labDeltaE": ("labDeltaE", {}, blend_oracles.lab_delta, 1),
    "dissolveTransition": (
        "dissolveTransition", {"time": 0.3}, lambda s, b: blend_oracles.mixed(b, s, 0.3), 1,
    ),
    "swipeTransition": (
        "swipeTransition",
        {"time": 0.4, "angle": 0.7, "width": 20.0, "opacity": 0.6, "color": [0.9, 0.5, 0.2]},
        blend_oracles.swipe(0.4, 0.7, 20, 0.6, [0.9, 0.5, 0.2]), 1,
    ),
    "copyMachineTransition": (
        "copyMachineTransition", {"time": 0.6, "angle": -0.4, "width": 25.0},
        blend_oracles.copy_machine(0.6, -0.4, 25, 1.3, [0.6, 1, 0.8]), 1,
    ),
    "modTransition": (
        "modTransition", {"time": 0.5, "center": [20, 15], "radius": 14.0, "compression": 40.0},
        blend_oracles.mod_transition(0.5, (20, 15), 2, 14, 40), 1,
    ),
    "flashTransition": (
        "flashTransition", {"time": 0.8, "center": [20, 15]},
        blend_oracles.flash(0.8, (20, 15), [1, 0.8, 0.6], 2.58, 0.5, 1.375, 0.85), 1,
    ),
    "disintegrateWithMaskTransition": (
        "disintegrateWithMaskTransition", {"time": 0.4, "maskImage": "mask"},
        blend_oracles.disintegrate(0.4, MASK_LAYER), 1,
    ),
}


def second_of(name: str) -> str:
    """The parameter that names the second picture."""
    if name.endswith("Transition"):
        return "targetImage"
    return "image2" if name in ("labDeltaE", "colorAbsoluteDifference") else "backgroundImage"


FILTERS |= {
    key: (name, {second_of(name): "veil", **parameters}, beside(formula), tolerance)
    for key, (name, parameters, formula, tolerance) in PAIRS.items()
}


@pytest.mark.parametrize("alpha_mode", ALPHA_MODES)
@pytest.mark.parametrize("wanted", FILTERS)
def test_compositing_with_each_kind_of_alpha(stub, wanted, alpha_mode):
    name, parameters, formula, tolerance = FILTERS[wanted]
    image = image_of(alpha_mode)
    expected = formula(layer_of(image, alpha_mode))
    if alpha_mode == "OPAQUE":
        # The result of an opaque picture is over black, and its fourth byte is not touched.
        expected[..., 3] = 1
    result = apply(stub, image, (name, parameters))
    assert greatest_difference(layer_of(result, alpha_mode), expected) <= tolerance + 0.01
    if alpha_mode == "OPAQUE":
        assert np.array_equal(images.alpha(result), images.alpha(image))


@pytest.mark.parametrize("name", ["I420", "NV12"])
@pytest.mark.parametrize("wanted", FILTERS)
def test_compositing_with_video(stub, wanted, name):
    filter_name, parameters, formula, tolerance = FILTERS[wanted]
    image = images.noise(name, WIDTH, HEIGHT)
    image.color.matrix = image_messages.COLOR_MATRIX_BT709
    image.color.range = image_messages.COLOR_RANGE_VIDEO
    result = apply(stub, image, (filter_name, parameters))
    expected = formulas.through_rgb(
        *images.yuv(image), lambda colors: 255 * formula(compositing.layer(colors))[..., :3],
        "BT709", False,
    )
    for actual, plane in zip(images.yuv(result), expected, strict=True):
        assert formulas.difference(actual, plane) <= tolerance


@pytest.mark.parametrize("intensity", [1.0, 0.4])
@pytest.mark.parametrize("name", ["BGRA8", "RGB24", "I420"])
@pytest.mark.parametrize("table", TABLES)
def test_tetrahedral_lookup(stub, table, name, intensity):
    def looked_up(colors):
        found = 255 * compositing.cube_lookup(colors / 255, TABLES[table])
        return colors + intensity * (found - colors)

    image = images.noise(name, WIDTH, HEIGHT)
    image.color.range = image_messages.COLOR_RANGE_FULL
    image.color.matrix = image_messages.COLOR_MATRIX_BT601
    if name == "BGRA8":
        image.color.alpha = image_messages.ALPHA_MODE_OPAQUE
    result = apply(stub, image, ("colorCube", {"asset": table, "intensity": intensity}))
    if name == "I420":
        expected = formulas.through_rgb(*images.yuv(image), looked_up, "BT601", True)
        for actual, plane in zip(images.yuv(result), expected, strict=True):
            assert formulas.difference(actual, plane) <= 1
    else:
        expected = looked_up(images.rgb(image).astype(np.float64))
        assert formulas.difference(images.rgb(result), expected) <= 1


# Warps by the pixels of an image.
def displaced(colors):
    pushed = (VEIL_LAYER[..., :2] - 0.5 * VEIL_LAYER[..., 3:]) * 12
    return warp_oracles.read(colors, warp_oracles.grid(colors) + pushed[..., 0] + 1j * pushed[..., 1])


def behind_glass(colors):
    y = (GROUND_LAYER[..., :3] @ compositing.REC_709)[..., None]
    across = warp_oracles.neighbors(y, 1, 0) - warp_oracles.neighbors(y, -1, 0)
    down = warp_oracles.neighbors(y, 0, 1) - warp_oracles.neighbors(y, 0, -1)
    return warp_oracles.read(colors, warp_oracles.grid(colors) + 15 * (across + 1j * down)[..., 0])


def mapped(colors):
    y = np.clip(colors @ compositing.REC_709 / 255, 0, 1)
    row = 0.5 + y * (WIDTH - 1) + 1j * HEIGHT / 2
    return warp_oracles.read(255 * GROUND_LAYER[..., :3], row)


def shaded(colors):
    y = (colors @ compositing.REC_709)[..., None] / 255
    across = (warp_oracles.neighbors(y, 1, 0) - warp_oracles.neighbors(y, -1, 0))[..., 0]
    down = (warp_oracles.neighbors(y, 0, 1) - warp_oracles.neighbors(y, 0, -1))[..., 0]
    normal = np.stack([-across * 0.4 / 2, -down * 0.4 / 2, np.ones_like(across)])
    x, y, _ = normal / np.linalg.norm(normal, axis=0)
    return warp_oracles.read(
        255 * GROUND_LAYER[..., :3], WIDTH / 2 * (1 + x) + 1j * HEIGHT / 2 * (1 + y)
    )


def bars(colors):
    place = warp_oracles.grid(colors)
    way = warp_oracles.turn(0.4)
    bar = np.floor((place * way.conjugate()).imag / 9)
    total = abs(way.real) * WIDTH + abs(way.imag) * HEIGHT + 6
    start = place - way * np.maximum(0.3 * total - np.mod(bar, 2) * 6, 0)
    share = warp_oracles.covered(start, complex(WIDTH, HEIGHT))
    return warp_oracles.read(colors, start) * share + 255 * GROUND_LAYER[..., :3] * (1 - share)


def unfolded(colors):
    place = warp_oracles.grid(colors)
    height, time, folds, shadow = HEIGHT - 9, 0.6, 4, 0.5
    open_to = height * time
    target = warp_oracles.read(255 * GROUND_LAYER[..., :3], place.real + 1j * place.imag / time)
    fold = np.mod(place.imag / open_to * folds, 1)
    shade = 1 - shadow * (1 - time) * np.minimum(2 * fold, 2 - 2 * fold)
    top = place.imag < height
    share = np.where(top, np.clip(open_to - place.imag + 0.5, 0, 1), time)[..., None]
    shown = np.where(top[..., None], target * shade[..., None], 255 * GROUND_LAYER[..., :3])
    return colors + share * (shown - colors)


def curled(time: float, angle: float, radius: float, shadow_size: float = 0, shadow_amount: float = 0):
    """A page that lies on the ground up to an edge, and then rolls up around a cylinder."""

    def formula(colors):
        size, place = complex(WIDTH, HEIGHT), warp_oracles.grid(colors)
        way = warp_oracles.turn(angle)
        half = (abs(way.real) * WIDTH + abs(way.imag) * HEIGHT) / 2
        u = ((place - size / 2) * way.conjugate()).real
        edge = half - time * (2 * half + radius)
        x = (u - edge) / radius
        arc = np.arcsin(np.clip(x, 0, 1))
        # The page's positions that are seen: on the ground or rising, and from behind.
        front = place + way * np.where(x > 0, edge + radius * arc - u, 0)
        back = place + way * np.where(
            x > 0, edge + radius * (math.pi - arc) - u, 2 * edge + math.pi * radius - 2 * u
        )
        on = np.clip((1 - x) * radius + 0.5, 0, 1)[..., None]
        share = warp_oracles.covered(front, size) * on
        bend = np.clip(x, 0, 1)[..., None] ** 2
        ground = 255 * GROUND_LAYER[..., :3]
        shown = warp_oracles.read(colors, front) * (1 - 0.6 * bend)
        result = ground + share * (shown - ground)
        end = min(edge, 2 * edge + math.pi * radius - half)
        beyond = np.maximum(np.maximum(u - edge - radius, end - u), 0)
        dark = np.clip(1 - beyond / max(shadow_size * radius, 1e-3), 0, 1)[..., None]
        result = result * (1 - shadow_amount * np.clip((half - edge) / radius, 0, 1) * dark)
        light = np.where(x[..., None] > 0, 0.75 + 0.25 * np.sqrt(1 - bend), 1)
        paper = compositing.picture(PAPER)[..., :3] * 255
        share = warp_oracles.covered(back, size) * on
        return result + share * (warp_oracles.read(paper, back) * light - result)

    return formula


def rippled(colors):
    time, center, width, scale = 0.5, 20 + 15j, 24, 10
    d = warp_oracles.grid(colors) - center
    reach = abs(complex(max(20, WIDTH - 20), max(15, HEIGHT - 15))) + width
    s = (np.abs(d) - time * reach) / width + 1
    slope = (4 * np.clip(s, 0, 1) * np.clip(1 - s, 0, 1)) ** 2 * np.sin(2 * math.pi * s)
    place = warp_oracles.grid(colors) + d / np.maximum(np.abs(d), 1) * slope * scale
    t = np.clip((1 - s - 0.35) / 0.3, 0, 1)
    share = (3 * t**2 - 2 * t**3)[..., None]
    target = warp_oracles.read(255 * GROUND_LAYER[..., :3], place)
    found = warp_oracles.read(colors, place)
    return (found + share * (target - found)) * (1 + 0.25 * slope * scale / 50)[..., None]


def palettized(colors):
    columns = (np.arange(5) + 0.5) / 5 * WIDTH
    entries = warp_oracles.read(255 * GROUND_LAYER[..., :3], columns + 1j * HEIGHT / 2)
    far = ((colors[..., None, :] - entries) ** 2).sum(axis=-1)
    return entries[far.argmin(axis=-1)]


def masked_blur(colors):
    share = (GROUND_LAYER[..., :3] @ compositing.REC_709)
    for scale in (1, 0.4):
        colors = lens_oracles.mean(colors, lens_oracles.sunflower(10), 9 * scale * share)
    return colors


CURL = {"targetImage": "ground", "backsideImage": "paper", "time": 0.4, "angle": 0.5, "radius": 9.0}
WARPS = {
    "accordionFoldTransition": (
        {"targetImage": "ground", "time": 0.6, "bottomHeight": 9.0, "numberOfFolds": 4.0,
         "foldShadowAmount": 0.5}, unfolded,
    ),
    "pageCurlTransition": (CURL, curled(0.4, 0.5, 9)),
    "pageCurlWithShadowTransition": (
        {**CURL, "shadowSize": 0.8, "shadowAmount": 0.6}, curled(0.4, 0.5, 9, 0.8, 0.6),
    ),
    "rippleTransition": (
        {"targetImage": "ground", "time": 0.5, "center": [20, 15], "width": 24.0, "scale": 10.0},
        rippled,
    ),
    "palettize": ({"paletteImage": "ground", "count": 5.0}, palettized),
    "maskedVariableBlur": ({"mask": "ground", "radius": 9.0}, masked_blur),
    "barsSwipeTransition": (
        {"targetImage": "ground", "time": 0.3, "angle": 0.4, "width": 9.0, "barOffset": 6.0}, bars,
    ),
    "colorMap": ({"gradientImage": "ground"}, mapped),
    "shadedMaterial": ({"shadingImage": "ground", "scale": 0.4}, shaded),
    "displacementDistortion": ({"displacementImage": "veil", "scale": 12.0}, displaced),
    "glassDistortion": ({"texture": "ground", "scale": 15.0}, behind_glass),
}


@pytest.mark.parametrize("name", WARPS)
def test_warps_by_an_image(stub, name):
    parameters, formula = WARPS[name]
    image = image_of("OPAQUE")
    result = apply(stub, image, (name, parameters))
    expected = formula(images.rgb(image).astype(np.float64))
    # The image's samples have steps, which the strength magnifies.
    assert formulas.difference(images.rgb(result), expected) <= 3


def test_every_formula_with_an_asset_is_tested_here(stub):
    listed = stub.ListFilters(frame_filter.ListFiltersRequest(), timeout=60).filters
    with_assets = {
        each.name
        for each in listed
        if any(
            parameter.kind == catalogue.PARAMETER_KIND_ASSET for parameter in each.parameters
        )
    }
    # The Swift tests compare the filters of mattes with their definition.
    mattes = {"chromaKey", "virtualBackground", "backgroundBlur"}
    # Texts and kernels have separate tests.
    texts = {"text", "timecode", "kernel"}
    tested = {entry[0] for entry in FILTERS.values()} | {"colorCube", *WARPS}
    assert with_assets == tested | mattes | texts


def test_an_overlay_is_selected_during_a_session(server, stub):
    """Uploads an image with alpha, and selects an overlay during a session."""
    pixels = assets.sticker(160)
    sticker = compositing.picture(pixels)
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        asset_stub = assets_service.AssetsStub(channel)
        answer = assets.put(asset_stub, "hat", assets.png(pixels))
        assert (answer.asset.width, answer.asset.height) == (160, 160)
        image = images.noise("BGRA8", 320, 240)
        image.color.alpha = image_messages.ALPHA_MODE_OPAQUE
        with Session(stub, drop_policy=session_messages.DROP_POLICY_NEVER_DROP) as session:
            session.send_frame(image)
            parameters = {"asset": "hat", "origin": [50, 40], "width": 160.0, "height": 160.0}
            session.select(pipeline(("overlay", parameters)))
            session.send_frame(image)
            first, second = session.finish().frames
        assert first.image.inline == image.inline
        front = np.zeros((240, 320, 4))
        front[40:200, 50:210] = sticker
        expected = compositing.over(front, compositing.layer(images.rgb(image)))
        assert formulas.difference(images.rgb(second.image), 255 * expected[..., :3]) <= 1
        asset_stub.DeleteAsset(messages.DeleteAssetRequest(name="hat"))
