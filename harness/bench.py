"""bench placeholder"""


def bench() -> None:
    """x."""
