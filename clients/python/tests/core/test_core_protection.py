"""The protection of faces and backgrounds while there is no connection."""

import pytest
from support.pictures import RAW_FORMATS, random_image

from sidelight import Image, Pipeline, Stage
from sidelight._core.fallback import Fallback, mosaic
from sidelight._core.options import select_message
from sidelight._core.protection import BACKGROUND, FACES, protection_of_message, protection_of_text
from sidelight._core.selection import Selection
from sidelight.v1 import session_pb2


@pytest.mark.parametrize(
    "pipeline, hidden",
    [
        ([], set()),
        ([Stage("sepiaTone")], set()),
        ([Stage("faceBlur")], {FACES}),
        ([Stage("CIFacePixellate")], {FACES}),
        ([Stage("faceBlur").off()], set()),
        ([Pipeline([Stage("vignette"), Stage("facePixellate")])], {FACES}),
        ([Pipeline([Stage("faceBlur")]).named("x").off()], set()),
        ([Stage("backgroundBlur")], {BACKGROUND}),
        ([Stage("virtualBackground", {"protect": False})], set()),
        ([Stage("virtualBackground", {"protect": True}), Stage("faceBlur")], {FACES, BACKGROUND}),
        ([Stage("faceBlur", {"protect": False})], {FACES}),
    ],
)
def test_active_stages_protect(pipeline, hidden):
    assert protection_of_message(Pipeline(pipeline).message()) == hidden


@pytest.mark.parametrize(
    "text, hidden",
    [
        ("", set()),
        ("sepiaTone(intensity: 0.8), vignette", set()),
        ("x: faceBlur", {FACES}),
        ("[vignette, [CIfacePixellate(scale: 3)]]", {FACES}),
        ("faceBlur @off", {FACES}),
        ('"faceBlur"', {FACES}),
        ("backgroundBlur(protect: false)", {BACKGROUND}),
        ('"face\\u{42}lur"', {FACES, BACKGROUND}),
        ("overlay(asset: faceBlurred)", set()),
    ],
)
def test_texts_that_name_a_filter_that_protects_protect(text, hidden):
    assert protection_of_text(text) == hidden


def activate(**stages):
    return session_pb2.Activate(stages=stages)


def update(stage, name, flag):
    message = session_pb2.Update()
    message.stages.add(stage=stage).parameters[name].flag = flag
    return message


def test_a_selection_follows_activations_and_updates():
    pipeline = [Stage("faceBlur", id="f"), Pipeline([Stage("backgroundBlur")])]
    selection = Selection(select_message(pipeline))
    assert selection.protection == {FACES, BACKGROUND}
    selection.apply(activate(f=False))
    assert selection.protection == {BACKGROUND}
    selection.apply(update("stages[1].pipeline.stages[0]", "protect", False))
    assert selection.protection == set()
    copy = selection.copy()
    selection.apply(activate(f=True))
    assert (selection.protection, copy.protection) == ({FACES}, set())


def test_a_stage_that_is_not_found_leaves_every_stage_protecting():
    selection = Selection(
        select_message([Stage("faceBlur").off(), Stage("backgroundBlur", {"protect": False})])
    )
    assert selection.protection == set()
    selection.apply(activate(other=True))
    assert selection.protection == {FACES, BACKGROUND}


def test_a_protecting_text_stays_protecting():
    selection = Selection(select_message("f: faceBlur"))
    selection.apply(activate(f=False))
    assert selection.protection == {FACES}


def test_fallbacks_are_replaced_where_something_is_hidden():
    for policy, protected in (("pass_through", "drop"), ("drop", "drop"), ("blur", "blur")):
        fallback = Fallback(policy)
        assert fallback.choose(frozenset()) == policy
        assert fallback.choose(frozenset((FACES,))) == protected
        fallback.set_override(True)
        assert fallback.choose(frozenset()) == protected
        fallback.reconnect()
        assert fallback.choose(frozenset()) == protected
        fallback.apply()
        assert fallback.choose(frozenset()) == policy


@pytest.mark.parametrize("format", RAW_FORMATS)
@pytest.mark.parametrize("size", [(1, 1), (3, 5), (65, 33), (640, 360)])
def test_the_protecting_picture_has_large_blocks_of_one_colour(format, size):
    image = random_image(format, *size)
    result = mosaic(image)
    assert (result.format, result.width, result.height) == (image.format, *size)
    for index, shape in enumerate(image.format.planes):
        block = 16 // shape.subsampling
        rows = [bytes(row) for row in result.rows(index)]
        for top in range(0, len(rows), block):
            assert len(set(rows[top : top + block])) == 1
        pixels = [
            rows[0][at : at + shape.channels] for at in range(0, len(rows[0]), shape.channels)
        ]
        assert all(len(set(pixels[at : at + block])) == 1 for at in range(0, len(pixels), block))


def test_the_protecting_picture_of_a_padded_image_reads_its_samples():
    image = Image("gray", 2, 2, bytes([9, 9, 9, 9, 9, 9, 7]), planes=[(1, 4)])
    assert bytes(mosaic(image).data) == bytes([7] * 4)
