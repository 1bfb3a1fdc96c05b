"""Sessions whose filters hide faces or replace backgrounds, and pipelines that would show them."""

import contextlib
import itertools
import os
import time
from base64 import b64encode

import grpc
import numpy as np
import PIL.Image
import pytest
from grpc_status import rpc_status

from sidelight_testing import assets, images, portraits
from sidelight_testing.contract import REPOSITORY, assets_service, error_details, service
from sidelight_testing.contract import assets as asset_messages
from sidelight_testing.contract import session as messages
from sidelight_testing.server import Server, connect
from sidelight_testing.session import Session, pipeline

MEDIA = REPOSITORY / "Examples/media"
NEVER_DROP = messages.DROP_POLICY_NEVER_DROP
FILTERED = messages.DISPOSITION_FILTERED
# The time in which the searches of a still scene end, on a machine that is busy with builds too.
SECONDS = 100


@pytest.fixture(scope="module")
def scene() -> np.ndarray:
    return portraits.textured_scene()


def filtered(session: Session, scene: np.ndarray) -> np.ndarray:
    """Sends a frame, and returns the filtered picture."""
    sequence = session.send_frame(images.rgb_image(scene))
    while (message := session.receive()).WhichOneof("kind") != "frame":
        assert message.WhichOneof("kind") not in ("dropped", "error"), message
    frame = message.frame
    assert frame.sequence == sequence and frame.disposition == FILTERED
    return images.rgb(frame.image)


def assert_covered(picture: np.ndarray, scene: np.ndarray) -> None:
    """Checks that the whole scene is blurred."""
    assert portraits.is_hidden(picture, scene)
    assert portraits.is_hidden(portraits.corners_of(picture), portraits.corners_of(scene))


def frame_with_known_face(session: Session, scene: np.ndarray) -> np.ndarray:
    """Sends frames until only the face is covered. It never shows before."""
    deadline = time.monotonic() + SECONDS
    while True:
        picture = filtered(session, scene)
        assert portraits.is_hidden(portraits.face_of(picture), portraits.face_of(scene))
        if np.array_equal(portraits.corners_of(picture), portraits.corners_of(scene)):
            return picture
        assert time.monotonic() < deadline, "the whole frame is still covered"


@pytest.mark.parametrize("name", ["faceBlur", "facePixellate"])
def test_the_first_frame_is_covered_until_the_face_is_known(stub, vision, scene, name):
    with Session(stub, pipeline=pipeline(name), drop_policy=NEVER_DROP) as session:
        assert_covered(filtered(session, scene), scene)
        if name == "faceBlur":
            frame_with_known_face(session, scene)
        session.finish()


def test_a_session_reports_why_the_whole_frame_is_covered(stub, vision, scene):
    with Session(stub, pipeline=pipeline("faceBlur"), drop_policy=NEVER_DROP) as session:
        frame_with_known_face(session, scene)
        analyses = session.finish().analyses
    assert {each.filter for each in analyses} == {"faceBlur"}
    reasons = [each.words["wholeFrame"] for each in analyses]
    assert reasons[0] == "searching" and reasons[-1] == "" and "" not in reasons[:-1]
    seconds = [each.figures["wholeFrameSeconds"] for each in analyses]
    assert seconds[0] == 0 == seconds[-1] and seconds[:-1] == sorted(seconds[:-1])


@pytest.mark.parametrize("kind", ["stripes", "noise"])
def test_a_face_that_appears_where_the_picture_moved_is_covered(stub, vision, kind):
    known = portraits.scene(np.array([170.0, 170.0]))
    rng = np.random.default_rng(2)
    place, new_face, hair = np.s_[60:300, 400:600], np.s_[130:230, 450:550], np.s_[62:74, 420:520]

    def frame(moving: int | None) -> np.ndarray:
        """The known face, next to a region that moves or, with `None`, another face at rest."""
        picture = known.copy()
        if moving is None:
            picture[place] = portraits.scene()[50:290, 220:420][:, ::-1]
        elif kind == "stripes":
            waves = np.sin((np.arange(200) + 9 * moving) / 13)
            picture[place] = (128 + 70 * np.sign(waves))[None, :, None]
        else:
            picture[place] = np.kron(rng.integers(40, 216, (12, 10)), np.ones((20, 20)))[..., None]
        return np.clip(picture + rng.integers(-3, 4, picture.shape), 0, 255).astype(np.uint8)

    def is_whole(picture: np.ndarray, original: np.ndarray) -> bool:
        return not np.array_equal(picture[:40, :40], original[:40, :40])

    with Session(stub, pipeline=pipeline("faceBlur"), drop_policy=NEVER_DROP) as session:
        deadline = time.monotonic() + SECONDS
        for step in itertools.count():
            moving = frame(step)
            # For three seconds at 30 frames a second, at least.
            if not is_whole(filtered(session, moving), moving) and step >= 90:
                break
            assert time.monotonic() < deadline, "the whole frame is still covered"
        for count in itertools.count():
            picture = filtered(session, shown := frame(None))
            assert portraits.is_hidden(picture[new_face], shown[new_face]), f"frame {count}"
            # At last the face is found, and only it is covered.
            if count >= 45 and np.array_equal(picture[hair], shown[hair]):
                break
            assert time.monotonic() < deadline, "more than the face is still covered"
        session.finish()


def test_a_pause_that_passes_frames_keeps_the_face_hidden(stub, vision, scene):
    with Session(stub, pipeline=pipeline("faceBlur"), drop_policy=NEVER_DROP) as session:
        frame_with_known_face(session, scene)
        session.send(pause=messages.Pause(pass_through=True))
        assert session.receive_until("state").state == messages.SESSION_STATE_PAUSED
        for _ in range(5):
            picture = filtered(session, scene)
            assert portraits.is_hidden(portraits.face_of(picture), portraits.face_of(scene))
        session.finish()


def test_a_new_selection_of_the_other_filter_keeps_the_face_hidden(stub, vision, scene):
    with Session(stub, pipeline=pipeline("faceBlur"), drop_policy=NEVER_DROP) as session:
        frame_with_known_face(session, scene)
        session.select(pipeline("sepiaTone", ("faceBlur", {"strength": 2})))
        for _ in range(5):
            picture = filtered(session, scene)
            assert portraits.is_hidden(portraits.face_of(picture), portraits.face_of(scene))
        session.finish()


def test_a_session_that_resumes_on_another_server_starts_covered(vision, scene, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text(f"fleet:{b64encode(os.urandom(32)).decode()}\n")
    with contextlib.ExitStack() as stack:
        stubs = []
        for _ in range(2):
            server = stack.enter_context(Server("--resume-keys-file", keys))
            channel = stack.enter_context(grpc.insecure_channel(server.addresses["tcp"]))
            stubs.append(service.FrameFilterStub(channel))
        first, other = stubs
        with Session(first, pipeline=pipeline("faceBlur"), drop_policy=NEVER_DROP) as session:
            frame_with_known_face(session, scene)
            token = session.opened.resume_token
        with Session(other, resume_token=token, drop_policy=NEVER_DROP) as session:
            assert_covered(filtered(session, scene), scene)
            frame_with_known_face(session, scene)
            session.finish()


@pytest.mark.parametrize("is_flat", [True, False], ids=["grey", "the scene"])
def test_a_face_in_alpha_is_hidden(stub, vision, scene, is_flat):
    height, width, _ = scene.shape
    alpha = scene.mean(2).astype(np.uint8)
    colors = np.full_like(scene, 200) if is_flat else scene
    # Alpha shows the scene upside down, so its face is where the colours have no face.
    pixels = np.dstack([colors, alpha[::-1]])
    image = images.make_image("RGBA8", width, height, [pixels.reshape(height, -1)])
    with Session(stub, pipeline=pipeline("faceBlur"), drop_policy=NEVER_DROP) as session:
        for _ in range(30):
            session.send_frame(image)
            while (message := session.receive()).WhichOneof("kind") != "frame":
                assert message.WhichOneof("kind") not in ("dropped", "error"), message
            result = message.frame.image
            assert (images.alpha(result) == 255).all()
            if not is_flat:
                face = portraits.face_of(images.rgb(result))
                assert portraits.is_hidden(face, portraits.face_of(scene))
        session.finish()


def test_a_face_that_masks_between_blurs_move_is_covered(stub, vision, scene):
    # Every mask shows three of eight columns, and every blur fills the next columns from them.
    moving = []
    for step in range(8):
        mask = f"color.rgb * step(5, mod(position.x + {2 * step}, 8)) * 2.5"
        moving += [("kernel", {"source": mask}), ("boxBlur", {"radius": 2.0})]
    with Session(stub, pipeline=pipeline(*moving), drop_policy=NEVER_DROP) as session:
        moved = filtered(session, scene)
        session.finish()
    wanted = pipeline(*moving, "faceBlur")
    with Session(stub, pipeline=wanted, drop_policy=NEVER_DROP) as session:
        deadline = time.monotonic() + SECONDS
        is_shown = False
        while not is_shown:
            assert time.monotonic() < deadline, "the whole frame is still covered"
            picture = filtered(session, scene)
            is_shown = np.array_equal(portraits.corners_of(picture), portraits.corners_of(moved))
            for distance in (-16, -8, 0, 8, 16):
                part, original = (
                    portraits.face_of(np.roll(each, -distance, axis=1), share=1)
                    for each in (picture, moved)
                )
                # Blurred columns have little detail: what is equal is shown.
                is_lit = original.max(2) > 32
                is_equal = np.abs(part.astype(int) - original).max(2) <= 2
                assert is_lit.mean() > 0.2 and is_equal[is_lit].mean() < 0.1
        session.finish()


def mixed() -> object:
    wanted = pipeline("faceBlur")
    wanted.stages[0].mix = 0.5
    return wanted


def in_a_region() -> object:
    wanted = pipeline("faceBlur")
    wanted.stages[0].region.width.value = 100
    wanted.stages[0].region.height.value = 100
    return wanted


@pytest.mark.parametrize(
    "wanted, field",
    [
        (mixed(), "stages[0].mix"),
        (in_a_region(), "stages[0].region"),
        (pipeline(("scale", {"width": 320.0}), "faceBlur"), "stages[1].filter.name"),
        (
            pipeline(("kernel", {"source": "sample(-30, 0)"}), "faceBlur"),
            "stages[1].filter.name",
        ),
        (
            pipeline("faceBlur", ("multiplyCompositing", {"backgroundImage": "source"})),
            'stages[1].filter.parameters["backgroundImage"]',
        ),
    ],
    ids=["mix", "region", "after scale", "after a shift", "source"],
)
def test_a_pipeline_that_would_show_a_face_is_refused_with_the_field(stub, vision, wanted, field):
    with Session(stub, opens=False) as session:
        session.send(open=messages.Open(pipeline=wanted))
        error = session.fail()
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    request = error_details.BadRequest()
    assert any(each.Unpack(request) for each in rpc_status.from_call(error).details)
    assert [each.field for each in request.field_violations] == [f"open.pipeline.{field}"]
    assert "faceBlur" in error.details()


# Without Vision: plates need no faces.


@pytest.fixture
def rooms(server):
    """The pictures of a room and of another one, uploaded for the time of a test."""
    folder = {"room": "office.jpg", "beach": "gradient.jpg"}
    with connect(server.addresses["tcp"]) as channel:
        stub = assets_service.AssetsStub(channel)
        for name, file in folder.items():
            assets.put(stub, name, (MEDIA / file).read_bytes())
        yield {
            name: np.asarray(PIL.Image.open(MEDIA / file).convert("RGB"))
            for name, file in folder.items()
        }
        for name in folder:
            stub.DeleteAsset(asset_messages.DeleteAssetRequest(name=name))


PLATE = {"matte": "plate", "plate": "room", "backgroundImage": "beach", "lightWrap": 0.0}


def test_the_room_behind_a_person_is_replaced(stub, rooms):
    room, beach = rooms["room"], rooms["beach"]
    person = portraits.scene()[60:300, 220:420]
    with Session(
        stub, pipeline=pipeline(("virtualBackground", PLATE)), drop_policy=NEVER_DROP
    ) as session:
        for step in range(5):
            left = 480 + 8 * step
            frame = room.copy()
            frame[300:540, left : left + 200] = person
            result = filtered(session, frame).astype(int)
            corners = portraits.corners_of(result), portraits.corners_of(beach)
            assert np.abs(corners[0] - corners[1]).max() <= 3
            inside = slice(340, 500), slice(left + 40, left + 160)
            assert np.abs(result[inside] - frame[inside]).mean() < 8
        session.finish()


def test_only_the_background_shows_while_the_matte_is_not_sure(stub, rooms):
    # The frame does not show the room.
    wanted = pipeline(("virtualBackground", PLATE))
    with Session(stub, pipeline=wanted, drop_policy=NEVER_DROP) as session:
        noise = np.random.default_rng(6).integers(0, 256, rooms["room"].shape, dtype=np.uint8)
        result = filtered(session, noise).astype(int)
        assert np.abs(result - rooms["beach"]).max() <= 3
        session.finish()
