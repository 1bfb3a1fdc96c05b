"""Texts on frames: templates with the values of a session's frames, and uploaded fonts."""

from pathlib import Path

import grpc
import numpy as np
import pytest

from sidelight_testing import assets, images
from sidelight_testing.contract import assets as asset_messages
from sidelight_testing.contract import assets_service, catalogue, frame_filter
from sidelight_testing.session import Session, pipeline

FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
WIDTH, HEIGHT = 320, 180
# 2024-02-29 23:59:58.123 UTC
CAPTURE = 1_709_251_198_123_000_000


def apply(stub, image, *wanted, **fields):
    request = frame_filter.ApplyRequest(image=image, pipeline=pipeline(*wanted), **fields)
    return stub.Apply(request, timeout=60).image


def flat():
    return images.make_image("GRAY8", WIDTH, HEIGHT, [np.full((HEIGHT, WIDTH), 90, np.uint8)])


def differences(one, other) -> np.ndarray:
    """The pixels that differ."""
    return images.samples(one)[0].astype(int) != images.samples(other)[0].astype(int)


def test_a_text_changes_only_its_rectangle(stub):
    image = flat()
    result = apply(stub, image, ("text", {"text": "Ada", "position": "topLeft", "size": 30}))
    changed = differences(image, result)
    assert changed.any()
    assert not changed[60:].any() and not changed[:, 120:].any()


def test_the_kind_of_the_parameter_is_text(stub):
    filters = stub.ListFilters(frame_filter.ListFiltersRequest(), timeout=60).filters
    (text,) = [each for each in filters if each.name == "text"]
    assert text.parameters[0].kind == catalogue.PARAMETER_KIND_TEXT


def test_the_clock_is_the_capture_time(stub):
    image = flat()
    clock = apply(
        stub, image, ("text", {"text": "{capture_time:%H:%M:%S}"}), capture_time_ns=CAPTURE)
    number = apply(stub, image, ("text", {"text": "{sequence:3}"}), frame_index=7)
    for template, value, shown in [
        ("{capture_time:%H:%M:%S}", "23:59:58", clock), ("{sequence:3}", "007", number),
    ]:
        fields = {"capture_time_ns": CAPTURE, "frame_index": 7}
        # A part that is empty, with another field, so both texts have digits of equal width.
        constant = "{capture_time:}" + value
        same = apply(stub, image, ("text", {"text": constant}), **fields)
        assert not differences(shown, same).any(), template


def test_a_session_shows_the_values_of_each_frame(stub):
    image = flat()
    template = "{sequence} {capture_time:%T} {label} {tag:place}"
    with Session(stub, label="camera 1", pipeline=pipeline(("text", {"text": template}))) as session:
        session.send_frame(image, 41, capture_time_ns=CAPTURE, tags={"place": "here"})
        session.send_frame(image, 42, capture_time_ns=CAPTURE, tags={"place": "here"})
        first = session.receive_until("frame").image
        second = session.receive_until("frame").image
    assert differences(image, first).any()
    assert differences(first, second).any()


def test_a_template_with_an_unknown_field_is_refused(stub):
    with pytest.raises(grpc.RpcError) as caught:
        apply(stub, flat(), ("text", {"text": "{sequenze}"}))
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "sequenze" in caught.value.details() and "sequence" in caught.value.details()


@pytest.fixture
def asset_stub(server):
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        stub = assets_service.AssetsStub(channel)
        yield stub
        for each in stub.ListAssets(asset_messages.ListAssetsRequest(), timeout=60).assets:
            stub.DeleteAsset(asset_messages.DeleteAssetRequest(name=each.name))


def test_an_uploaded_font_draws_like_the_installed_one(stub, asset_stub):
    answer = assets.put(asset_stub, "brand", FONT.read_bytes()).asset
    assert answer.kind == asset_messages.ASSET_KIND_FONT
    assert answer.font == "DejaVu Sans Book"
    assert answer.memory_bytes >= answer.file_bytes == FONT.stat().st_size
    image = flat()
    uploaded = apply(stub, image, ("text", {"text": "Name", "fontAsset": "brand"}))
    installed = apply(stub, image, ("text", {"text": "Name", "font": "dejaVuSans"}))
    assert differences(image, uploaded).any()
    assert not differences(uploaded, installed).any()


@pytest.mark.parametrize("count", [4, 12, 200, 5000])
def test_a_damaged_font_is_refused_with_a_reason(asset_stub, count):
    with pytest.raises(grpc.RpcError) as caught:
        assets.put(asset_stub, "broken", FONT.read_bytes()[:count])
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "the font is invalid: " in caught.value.details()
