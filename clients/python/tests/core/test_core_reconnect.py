"""The attempts to open a lost session again."""

import pytest

from sidelight import SidelightError
from sidelight._core.reconnect import INITIAL_DELAY, MAX_DELAY, Reconnector
from sidelight.errors import make_error


def error(code, **facts):
    return make_error(code, "text", **facts)


def test_waits_double_up_to_a_limit_and_are_random_above_half():
    for random, factor in ((0.0, 0.5), (1.0, 1.0)):
        reconnector = Reconnector(True, None, False)
        reconnector.open(0, 0.1)
        delays = [reconnector.lose(error("UNAVAILABLE"), 1, random, True) for _ in range(12)]
        assert [each.number for each in delays] == list(range(1, 13))
        ceilings = [min(MAX_DELAY, INITIAL_DELAY * 2**index) for index in range(12)]
        assert [each.delay for each in delays] == pytest.approx(
            [each * factor for each in ceilings]
        )


def test_a_connection_that_lasts_begins_a_new_series():
    reconnector = Reconnector(True, None, False)
    for now in range(5):
        reconnector.lose(error("UNAVAILABLE"), now, 1, True)
    reconnector.open(10, 0.1)
    assert reconnector.lose(error("UNAVAILABLE"), 10.1, 1, True).number == 6
    reconnector.open(20, 0.1)
    assert reconnector.lose(error("UNAVAILABLE"), 20 + MAX_DELAY, 1, True).number == 1


def test_attempts_end_after_the_time_limit():
    reconnector = Reconnector(True, 5.0, False)
    reconnector.open(0, 0.1)
    assert reconnector.lose(error("UNAVAILABLE"), 100, 0, True)
    assert reconnector.lose(error("UNAVAILABLE"), 104.9, 0, True)
    assert reconnector.lose(error("UNAVAILABLE"), 105, 0, True) is None


def test_a_refused_token_is_not_presented_again():
    reconnector = Reconnector(True, None, False)
    reconnector.open(0, 0.1)
    reconnector.lose(error("UNAVAILABLE"), 1, 0, True)
    retry = reconnector.lose(error("FAILED_PRECONDITION"), 2, 0, True)
    assert retry.delay == 0 and not reconnector.uses_token
    assert reconnector.lose(error("FAILED_PRECONDITION"), 3, 0, False) is None
    reconnector.open(4, 0.1)
    assert reconnector.uses_token


@pytest.mark.parametrize("code", ["INVALID_ARGUMENT", "PERMISSION_DENIED", "UNIMPLEMENTED"])
def test_permanent_errors_end_the_session(code):
    reconnector = Reconnector(True, None, True)
    reconnector.open(0, 0.1)
    assert reconnector.lose(error(code), 1, 0, True) is None


def test_a_full_server_is_tried_again_when_it_says():
    reconnector = Reconnector(True, None, False)
    reconnector.open(0, 0.1)
    assert reconnector.lose(error("RESOURCE_EXHAUSTED", retry_after=3.0), 1, 0, True).delay > 3
    assert reconnector.lose(error("RESOURCE_EXHAUSTED"), 1, 0, True) is None


def test_a_missing_asset_is_waited_for_only_while_a_session_is_opened_again():
    unknown = error("INVALID_ARGUMENT", details={"reason": "UNKNOWN_ASSET"})
    reconnector = Reconnector(True, 5.0, False)
    reconnector.open(0, 0.1)
    assert reconnector.lose(error("UNAVAILABLE"), 100, 0, True).number == 1
    assert reconnector.lose(unknown, 104, 0, True).number == 2
    assert reconnector.lose(unknown, 105, 0, True) is None
    reconnector.open(200, 0.1)
    assert reconnector.lose(unknown, 201, 0, True) is None


def test_a_token_is_kept_where_the_session_would_escape_an_override_without_it():
    invalid = error("FAILED_PRECONDITION", details={"reason": "OVERRIDE_INVALID"})
    reconnector = Reconnector(True, None, False)
    reconnector.open(0, 0.1)
    reconnector.lose(error("UNAVAILABLE"), 1, 0, True)
    assert reconnector.lose(invalid, 2, 0, True) is None


def test_an_expired_credential_is_renewed_once_it_was_accepted():
    reconnector = Reconnector(True, None, True)
    reconnector.open(0, 0.1)
    assert reconnector.lose(error("UNAUTHENTICATED"), 1, 0, True)
    assert reconnector.lose(error("UNAUTHENTICATED"), 2, 0, True) is None


def test_without_reconnection_the_first_loss_ends_the_session():
    reconnector = Reconnector(False, None, False)
    reconnector.open(0, 0.1)
    assert reconnector.lose(SidelightError("text", code="UNAVAILABLE"), 1, 0, True) is None
