"""pytest plugin: the questions of a suite as tests of a system. Nothing is imported unless a suite is named.

`pytest --klartext-suite mammography-de --klartext-system klartext`; `docs/reference.md` lists the options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("klartext", "Klartext: the questions of a suite as tests of a system")
    group.addoption("--klartext-suite", metavar="NAME", help="a shipped suite, or its folder")
    group.addoption(
        "--klartext-system",
        metavar="NAME|FILE",
        default="klartext",
        help="klartext, or a YAML file (default: klartext)",
    )
    group.addoption("--klartext-catalog", metavar="PATH", default="mammography", help="a shipped exam, or a folder")
    group.addoption("--klartext-method", choices=("hybrid", "cosine"), default="hybrid", help="how klartext matches")
    group.addoption("--klartext-encoder", metavar="NAME", default="embedded", help="encoder of the assistant")
    group.addoption("--klartext-data", metavar="DIR", help="folder for index and database")
    group.addoption(
        "--klartext-threshold",
        type=float,
        default=0.8,
        metavar="SHARE",
        help="right answers a test needs (default: 0.8)",
    )
    group.addoption(
        "--klartext-per",
        choices=("pair", "question"),
        default="pair",
        help="one test per pair and vignette, or question",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("klartext_suite"):
        from harness.pytest_suite import register

        register(config)
