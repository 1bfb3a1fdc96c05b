"""The two faces have the same methods with the same signatures."""

import inspect

import pytest

from sidelight import aio, sync

CLASSES = ["Server", "Session", "Change", "Assets", "Sessions"]


def public_members(kind):
    """The public members of a class, with the names of context managers made equal."""
    names = {name for name in dir(kind) if not name.startswith("_")}
    names |= {
        name.replace("__a", "__")
        for name in dir(kind)
        if name in ("__enter__", "__exit__", "__aenter__", "__aexit__")
    }
    return names


@pytest.mark.parametrize("name", CLASSES)
def test_both_faces_have_the_same_members(name):
    assert public_members(getattr(sync, name)) == public_members(getattr(aio, name))


@pytest.mark.parametrize("name", CLASSES)
def test_methods_have_the_same_parameters(name):
    first, second = getattr(sync, name), getattr(aio, name)
    for member in public_members(first) - {"__enter__", "__exit__"}:
        if not inspect.isfunction(getattr(first, member)):
            continue
        parameters = [
            [
                (each.name, each.kind, each.default)
                for each in inspect.signature(getattr(kind, member)).parameters.values()
            ]
            for kind in (first, second)
        ]
        assert parameters[0] == parameters[1], f"{name}.{member}"


@pytest.mark.parametrize("name", CLASSES)
def test_methods_have_the_same_documentation(name):
    first, second = getattr(sync, name), getattr(aio, name)
    for member in public_members(first) - {"__enter__", "__exit__"}:
        texts = [
            (inspect.getdoc(getattr(kind, member)) or "")
            .replace("an `async with` statement", "a `with` statement")
            .replace("An `async with` statement", "A `with` statement")
            .replace("in a separate task", "on a separate thread")
            for kind in (first, second)
        ]
        assert texts[0], f"{name}.{member} has no documentation"
        assert texts[0] == texts[1], f"{name}.{member}"


def test_connect_has_the_same_parameters():
    assert list(inspect.signature(sync.connect).parameters) == list(
        inspect.signature(aio.connect).parameters
    )
