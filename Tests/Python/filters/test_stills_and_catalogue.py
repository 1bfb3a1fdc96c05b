"""Unary calls: stills, the catalogue, checks of pipelines, information about the server."""

import io

import grpc
import numpy as np
import PIL.Image
import pytest
from grpc_status import rpc_status

from sidelight_testing import images
from sidelight_testing.contract import catalogue, error_details, frame_filter
from sidelight_testing.contract import image as image_messages
from sidelight_testing.contract import pipeline as pipeline_messages
from sidelight_testing.contract import session as messages
from sidelight_testing.session import Session, pipeline

LOOK = pipeline(("sepiaTone", {"intensity": 0.8}), ("vignette", {"intensity": 1}))
FIRST_FILTERS = {
    "colorControls",
    "colorInvert",
    "gaussianBlur",
    "grayscale",
    "hueAdjust",
    "pixellate",
    "sepiaTone",
    "vignette",
}


def file_image(name: str, colors: np.ndarray, **options: object):
    """A PNG or JPEG file, written by another library than the server's."""
    content = io.BytesIO()
    PIL.Image.fromarray(colors).save(content, name, **options)
    format_ = image_messages.PixelFormat.Value(f"PIXEL_FORMAT_{name}")
    return image_messages.Image(format=format_, inline=content.getvalue())


def read_file(image) -> np.ndarray:
    return np.asarray(PIL.Image.open(io.BytesIO(image.inline)))


def apply(stub, image, wanted=None):
    request = frame_filter.ApplyRequest(image=image, pipeline=wanted)
    return stub.Apply(request, timeout=60)


def noise(width: int, height: int, channels: int = 3) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (height, width, channels), dtype=np.uint8)


@pytest.mark.parametrize("width, height", [(1, 1), (37, 23), (640, 360)])
def test_a_png_and_a_session_have_the_same_pixels(stub, width, height):
    colors = noise(width, height)
    answer = apply(stub, file_image("PNG", colors), LOOK)
    assert answer.disposition == messages.DISPOSITION_FILTERED
    assert answer.image.format == image_messages.PIXEL_FORMAT_PNG
    with Session(stub, pipeline=LOOK, drop_policy=messages.DROP_POLICY_NEVER_DROP) as session:
        session.send_frame(images.rgb_image(colors))
        (frame,) = session.finish().frames
    assert np.array_equal(read_file(answer.image), images.rgb(frame.image))


@pytest.mark.parametrize("name", images.RAW_FORMATS)
def test_a_raw_still_and_a_session_have_the_same_bytes(stub, name):
    image = images.noise(name, 75, 41)
    with Session(stub, pipeline=LOOK, drop_policy=messages.DROP_POLICY_NEVER_DROP) as session:
        session.send_frame(image)
        (frame,) = session.finish().frames
    assert apply(stub, image, LOOK).image == frame.image


def test_a_png_with_alpha_keeps_it(stub):
    colors = noise(20, 10, channels=4)
    answer = read_file(apply(stub, file_image("PNG", colors), pipeline("colorInvert")).image)
    assert np.array_equal(answer[..., 3], colors[..., 3])
    assert np.array_equal(answer[..., :3], 255 - colors[..., :3])


@pytest.mark.parametrize("wanted", [None, LOOK], ids=["as it was", "filtered"])
def test_a_raw_still_is_rotated_upright_in_a_file(stub, wanted):
    colors = noise(31, 18)
    stored = images.rgb_image(colors)
    shown = images.rgb_image(colors)
    shown.orientation.mirrored = True
    shown.orientation.rotation = image_messages.ROTATION_90
    as_file = frame_filter.ApplyRequest(pipeline=wanted)
    as_file.output.format = image_messages.PIXEL_FORMAT_PNG
    results = []
    for each in (stored, shown):
        as_file.image.CopyFrom(each)
        results.append(read_file(stub.Apply(as_file, timeout=60).image))
    upright, turned = results
    assert np.array_equal(turned, np.rot90(upright[:, ::-1], k=-1))
    # Raw images say so themselves, and their pixels stay.
    raw = apply(stub, shown, wanted).image
    assert raw.orientation == shown.orientation
    assert np.array_equal(images.rgb(raw), upright)


def test_a_jpeg_returns_as_a_jpeg(stub):
    # Soft, as photographs are; JPEG spends its levels on noise.
    ramp = np.linspace(20, 220, 96, dtype=np.uint8)
    colors = np.stack(np.broadcast_arrays(ramp, ramp[:64, None], np.uint8(90)), axis=-1)
    answer = apply(stub, file_image("JPEG", colors, quality=95), pipeline("colorInvert"))
    assert answer.image.format == image_messages.PIXEL_FORMAT_JPEG
    result = read_file(answer.image).astype(np.int16)
    assert np.abs(result - (255 - colors.astype(np.int16))).mean() < 4


BROKEN_FILES = {
    "nothing": b"",
    "a word": b"picture",
    "only a signature": b"\x89PNG\r\n\x1a\n",
    "a PNG cut short": file_image("PNG", noise(64, 64)).inline[:1000],
}


@pytest.mark.parametrize("content", BROKEN_FILES)
def test_a_file_that_is_not_an_image_is_refused(stub, content):
    image = image_messages.Image(
        format=image_messages.PIXEL_FORMAT_PNG, inline=BROKEN_FILES[content]
    )
    with pytest.raises(grpc.RpcError) as caught:
        apply(stub, image, LOOK)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "image" in caught.value.details()


def test_an_unknown_filter_is_refused_with_its_position_and_the_nearest_name(stub):
    with pytest.raises(grpc.RpcError) as caught:
        apply(stub, images.noise("RGB24", 4, 4), pipeline("grayscale", "vignete"))
    request, info = error_details.BadRequest(), error_details.ErrorInfo()
    for message, detail in zip((request, info), rpc_status.from_call(caught.value).details):
        assert detail.Unpack(message)
    (found,) = request.field_violations
    assert found.field.startswith("pipeline.stages[1]")
    assert "vignette" in found.description
    assert info.metadata["suggestion"] == "vignette"


def test_the_catalogue_describes_every_filter(stub):
    filters = stub.ListFilters(frame_filter.ListFiltersRequest(), timeout=60).filters
    names = [each.name for each in filters]
    assert names == sorted(names)
    assert FIRST_FILTERS <= set(names)
    for each in filters:
        assert each.summary and each.category and each.formula
        assert each.reach != catalogue.REACH_UNSPECIFIED
        assert each.fidelity != catalogue.FIDELITY_UNSPECIFIED
        for described in each.parameters:
            assert described.summary
            assert described.kind != catalogue.PARAMETER_KIND_UNSPECIFIED


def test_every_filter_can_be_described_by_either_spelling(stub):
    for each in stub.ListFilters(frame_filter.ListFiltersRequest(), timeout=60).filters:
        for name in (each.name, "CI" + each.name[0].upper() + each.name[1:]):
            request = frame_filter.DescribeFilterRequest(name=name)
            assert stub.DescribeFilter(request, timeout=60).filter == each


def test_every_filter_runs_with_its_defaults_and_the_ends_of_its_sliders(stub):
    image = images.noise("I420", 64, 48)
    for each in stub.ListFilters(frame_filter.ListFiltersRequest(), timeout=60).filters:
        if any(not described.HasField("default_value") for described in each.parameters):
            continue  # needs an asset, which a client cannot bring yet
        wanted = [pipeline(each.name)]
        for described in each.parameters:
            if described.HasField("slider") and described.kind in (
                catalogue.PARAMETER_KIND_NUMBER,
                catalogue.PARAMETER_KIND_LENGTH,
            ):
                ends = (described.slider.minimum, described.slider.maximum)
                wanted += [pipeline((each.name, {described.name: end})) for end in ends]
        for one in wanted:
            made = apply(stub, image, one).image
            chroma = (made.width + 1) // 2 * ((made.height + 1) // 2)
            assert len(made.inline) == made.width * made.height + 2 * chroma, one
            if each.category != "geometry":
                assert (made.width, made.height) == (image.width, image.height)


def test_a_category_narrows_the_catalogue(stub):
    request = frame_filter.ListFiltersRequest(category="blur")
    filters = stub.ListFilters(request, timeout=60).filters
    assert "gaussianBlur" in {each.name for each in filters}
    assert {each.category for each in filters} == {"blur"}


def test_an_unknown_filter_is_not_found_and_the_nearest_is_named(stub):
    with pytest.raises(grpc.RpcError) as caught:
        stub.DescribeFilter(frame_filter.DescribeFilterRequest(name="gausianBlur"), timeout=60)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND
    assert "gaussianBlur" in caught.value.details()


def check(stub, **fields: object):
    return stub.CheckPipeline(frame_filter.CheckPipelineRequest(**fields), timeout=60)


def test_text_becomes_messages_and_messages_become_text(stub):
    text = "sepiaTone(intensity: 0.8), [pixellate(scale: 12), hueAdjust(angle: 3.14)]"
    from_text = check(stub, text=text)
    assert [stage.WhichOneof("content") for stage in from_text.pipeline.stages] == [
        "filter",
        "pipeline",
    ]
    assert from_text.pipeline.stages[0].filter.name == "sepiaTone"
    from_messages = check(stub, pipeline=from_text.pipeline)
    assert from_messages.text == from_text.text
    assert from_messages.pipeline == from_text.pipeline
    assert check(stub, text=from_text.text).pipeline == from_text.pipeline


def test_colour_stages_that_follow_each_other_become_one_pass(stub):
    passes = check(stub, text="sepiaTone, colorInvert, hueAdjust(angle: 1)").passes
    assert [list(each.filters) for each in passes] == [["sepiaTone", "colorInvert", "hueAdjust"]]
    assert all(each.name and each.description for each in passes)


@pytest.mark.parametrize("text", ["", "sepiaTone(intensity: 0)", "hueAdjust"])
def test_a_pipeline_that_does_nothing_has_no_passes(stub, text):
    assert not check(stub, pipeline=pipeline_messages.Pipeline(), width=8, height=8).passes
    assert not check(stub, text=text).passes


@pytest.mark.parametrize(
    "text, hint",
    [
        ("sepiaTome", "sepiaTone"),
        ("sepiaTone(intesity: 1)", "intensity"),
        ("sepiaTone(", ""),
        ("sepiaTone)", ""),
        ("[" * 50, ""),
        (",".join(["grayscale"] * 100), "64"),
    ],
    ids=lambda value: value[:24],
)
def test_invalid_pipeline_text_is_refused_with_a_hint(stub, text, hint):
    with pytest.raises(grpc.RpcError) as caught:
        check(stub, text=text)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert hint in caught.value.details()


def test_the_server_reports_its_version_and_limits(info):
    assert info.version.count(".") == 2
    assert info.limits.max_message_bytes >= 3840 * 2160 * 4
    assert info.limits.max_dimension >= 4096
    assert info.limits.max_stages == 64
    assert info.limits.max_concurrent_streams > 0
    assert info.load.compute_threads >= 1
    assert info.instruction_set
