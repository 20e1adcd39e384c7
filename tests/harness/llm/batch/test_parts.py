"""An input file is split at the API's limits, and refused where the API would refuse it days later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot import BadData
from harness.llm.batch_files import Limits, content_of, split
from tests.harness.llm.batch.conftest import request, write


@pytest.mark.parametrize(
    ("limits", "requests"),
    [
        (Limits(), [5]),
        (Limits(requests=5), [5]),
        (Limits(requests=2), [2, 2, 1]),
        (Limits(bytes=1), [1, 1, 1, 1, 1]),
    ],
)
def test_slices_are_whole_lines_within_the_limits(prompts: Path, limits: Limits, requests: list[int]) -> None:
    slices = split(prompts, limits)

    contents = [content_of(prompts, part.start, part.end) for part in slices]
    assert [part.requests for part in slices] == requests == [content.count(b"\n") for content in contents]
    assert b"".join(contents) == prompts.read_bytes()
    assert len({part.sha256 for part in slices}) == len(slices)


def test_bytes_count_as_the_api_counts_them(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", [request(n, "ä" * 100) for n in range(4)])
    two_lines = len(b"\n".join(path.read_bytes().split(b"\n")[:2])) + 1

    assert [part.requests for part in split(path, Limits(bytes=two_lines))] == [2, 2]
    assert [part.requests for part in split(path, Limits(bytes=two_lines - 1))] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("requests", "said"),
    [
        ([], "holds no request"),
        ([request(1), request(1)], r"p\.jsonl:2 has the id 'paraphrase/v1/pair-1' again"),
        ([request(1), request(2, model="other")], r"p\.jsonl:2 is for model 'other', the first line for 'gpt-4o'"),
        ([{**request(1), "url": "/v1/embeddings"}], r"p\.jsonl:1 is no whole request to /v1/chat/completions"),
        ([request(1), {"custom_id": "x"}], r"p\.jsonl:2 is no whole request"),
        ([{**request(1), "body": "x"}], r"p\.jsonl:1 is no whole request"),
    ],
)
def test_what_the_api_would_refuse_is_refused_at_once(
    tmp_path: Path, requests: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(BadData, match=said):
        split(write(tmp_path / "p.jsonl", requests), Limits())


def test_a_file_that_was_cut_off_is_refused(prompts: Path) -> None:
    prompts.write_bytes(prompts.read_bytes()[:-1])

    with pytest.raises(BadData, match=r"prompts\.jsonl:5 is no whole request"):
        split(prompts, Limits())
    with pytest.raises(BadData, match=r"missing\.jsonl cannot be read \(there is no such file"):
        split(prompts.with_name("missing.jsonl"), Limits())
