"""Debian packages that some tests need."""

import shutil
import subprocess

import pytest


def missing_packages(*names: str) -> list[str]:
    """Returns the packages that are not installed. Without dpkg, all count as installed."""
    if shutil.which("dpkg-query") is None:
        return []
    shown = subprocess.run(
        ["dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\n", *names],
        capture_output=True, text=True, timeout=60, check=False,
    )
    lines = shown.stdout.splitlines()
    installed = {line.split()[0] for line in lines if line.endswith(" installed")}
    return [name for name in names if name not in installed]


def require_packages(*names: str) -> None:
    """Skips a test where packages are missing, and names them."""
    if missing := missing_packages(*names):
        pytest.skip("Missing Debian packages: " + " ".join(missing))
