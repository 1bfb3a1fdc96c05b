"""The owner of every slot of a ring."""

from sidelight._core.slots import Slots


def test_an_input_slot_is_free_when_neither_a_frame_nor_a_picture_uses_it():
    slots = Slots(1, 1)
    assert slots.lend() == 0
    assert slots.lend() is None
    assert slots.send(0, 5)
    slots.returned.append((0, -1))
    assert slots.lend() is None
    slots.settle(5, 5)
    assert slots.lend() == 0


def test_a_slot_of_a_frame_in_flight_is_not_sent_again():
    slots = Slots(2, 1)
    slot = slots.lend()
    assert slots.send(slot, 1)
    assert not slots.send(slot, 2)
    slots.settle(1, 1)
    assert slots.send(slot, 2)


def test_a_range_of_outcomes_frees_all_its_slots():
    slots = Slots(4, 1)
    for sequence in (1, 2, 3, 4):
        slot = slots.lend()
        slots.send(slot, sequence)
        slots.returned.append((slot, -1))
    slots.settle(2, 3)
    assert sorted((slots.lend(), slots.lend())) == [1, 2]
    assert slots.lend() is None


def test_an_acknowledgement_waits_until_the_server_needs_slots():
    slots = Slots(6, 6)
    acknowledgements = []
    for sequence in range(1, 13):
        found = slots.acknowledgement(2)
        if found:
            acknowledgements.append(found)
        slots.receive(6 + sequence % 6, sequence)
        slots.returned.append((6 + sequence % 6, sequence))
    assert acknowledgements == [(5, ()), (10, ())]


def test_held_slots_are_listed_until_they_return():
    slots = Slots(1, 2)
    slots.receive(1, 10)
    slots.receive(2, 11)
    assert slots.acknowledgement(2) is None
    slots.returned.append((1, 10))
    assert slots.acknowledgement(2) == (11, (2,))
    assert slots.acknowledgement(2) is None
    slots.returned.append((2, 11))
    assert slots.acknowledgement(2) == (11, ())


def test_a_late_return_does_not_free_the_slot_of_a_newer_picture():
    slots = Slots(1, 1)
    slots.receive(1, 10)
    slots.receive(1, 20)
    slots.returned.append((1, 10))
    assert slots.acknowledgement(2) == (20, (1,))
