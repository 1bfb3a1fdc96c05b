"""The slots of shared memory: given back by release, `with` and collection, never leaked."""

import gc

import pytest
from support.pictures import random_image

from sidelight import Filtered, Stage

numpy = pytest.importorskip("numpy")

INVERT = Stage("colorInvert")
SLOTS = 3


@pytest.fixture
def session(server):
    with server.session(INVERT, slots=SLOTS, slot_bytes=1 << 16) as session:
        assert session.uses_shared_memory
        yield session


@pytest.fixture
def image():
    return random_image("gray", 64, 48)


def is_in_slot(image):
    return type(image.data.obj).__name__ == "SlotBytes"


def filtered(session, image):
    outcome = session.filter(image, timeout=60)
    assert isinstance(outcome, Filtered)
    return outcome


def test_results_that_are_used_on_stay_valid_and_further_ones_are_inline(session, image):
    kept = [filtered(session, image) for _ in range(SLOTS * 3)]
    places = [is_in_slot(each.image) for each in kept]
    assert sum(places) == SLOTS and not places[-1]
    expected = bytes(255 - each for each in image.data)
    assert all(bytes(each.image.data) == expected for each in kept)


def test_release_gives_slots_back(session, image):
    for _ in range(SLOTS * 5):
        outcome = filtered(session, image)
        assert is_in_slot(outcome.image)
        outcome.release()
        outcome.release()
        with pytest.raises(ValueError, match="released"):
            assert outcome.image


def test_with_gives_slots_back_and_ends_the_pictures_use(session, image):
    for _ in range(SLOTS * 5):
        with filtered(session, image) as outcome:
            picture = outcome.image
            assert is_in_slot(picture)
        with pytest.raises(ValueError, match="released"):
            assert picture.data


def test_collection_gives_slots_back(session, image):
    for _ in range(SLOTS * 5):
        assert is_in_slot(filtered(session, image).image)
    kept = []
    for _ in range(SLOTS):
        cycle = [filtered(session, image)]
        cycle.append(cycle)
        kept.append(cycle)
    cycle = None
    assert not is_in_slot(filtered(session, image).image)
    kept.clear()
    gc.collect()
    assert is_in_slot(filtered(session, image).image)


def test_outcomes_whose_picture_nobody_looks_at_give_slots_back(session, image):
    for _ in range(SLOTS * 5):
        filtered(session, image)
    assert is_in_slot(filtered(session, image).image)


def test_an_array_keeps_its_slot_after_release(session, image):
    outcome = filtered(session, image)
    array = numpy.frombuffer(outcome.image.plane(0), dtype=numpy.uint8)
    expected = array.copy()
    outcome.release()
    outcome = None
    for seed in range(SLOTS * 5):
        filtered(session, random_image("gray", 64, 48, seed)).release()
    assert (array == expected).all()
    part = array[:10]
    array = None
    for seed in range(SLOTS * 5):
        filtered(session, random_image("gray", 64, 48, seed)).release()
    assert (part == expected[:10]).all()


def test_frames_in_hand_take_slots_and_others_are_in_ordinary_memory(session):
    frames = [session.frame(64, 48, "gray") for _ in range(SLOTS + 2)]
    places = [is_in_slot(each.image) for each in frames]
    assert places == [True] * SLOTS + [False] * 2
    for frame in frames:
        frame.planes[0][:] = bytes(64 * 48)
        assert set(filtered(session, frame).image.data) == {255}
    frame = frames = None
    assert is_in_slot(session.frame(64, 48, "gray").image)


def test_a_frame_may_be_sent_again(session):
    frame = session.frame(64, 48, "gray")
    for value in range(SLOTS * 3):
        frame.planes[0][:] = bytes([value]) * (64 * 48)
        assert set(filtered(session, frame).image.data) == {255 - value}


def test_part_of_a_slot_is_copied_like_any_picture(session):
    frame = session.frame(64, 48, "gray")
    frame.planes[0][:] = bytes(range(48)) * 64
    part = type(frame.image)("gray", 48, 10, frame.planes[0][480:960])
    expected = bytes(255 - each for each in frame.planes[0][480:960])
    assert bytes(filtered(session, part).image.data) == expected


def test_pictures_outlive_their_session(server, image):
    with server.session(INVERT) as session:
        outcome = filtered(session, image)
        picture = outcome.image
        assert is_in_slot(picture)
        frame = session.frame(64, 48, "gray")
    assert bytes(picture.data) == bytes(255 - each for each in image.data)
    frame.planes[0][:] = bytes(64 * 48)
    with server.session(INVERT) as session:
        assert set(filtered(session, frame).image.data) == {255}


def test_closed_sessions_leave_no_memory_mapped(server, image):
    def mapped():
        with open("/proc/self/maps") as maps:
            return sum("sidelight" in line or "memfd" in line for line in maps)

    before = mapped()
    for _ in range(5):
        with server.session(INVERT) as session:
            filtered(session, image)
            assert mapped() > before
    session = None
    gc.collect()
    assert mapped() == before
