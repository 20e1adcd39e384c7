"""Patients to impersonate: the shipped three in both languages, and files that are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot import BadData
from harness.patients.vignettes import load_file, load_vignettes

TEXTS: dict[str, Any] = {
    "title": "Müde",
    "description": "Liest wenig.",
    "impersonation": "Sie sind müde.",
    "targets": {"words": [2, 9], "reading_ease": [40, 90], "jargon_share": [0, 0.1]},
}
GOOD: dict[str, Any] = {
    "id": "tired",
    "literacy": {"health": "low", "language": "native"},
    "languages": {"de": TEXTS},
}


def write(folder: Path, document: object, name: str = "tired.yaml") -> Path:
    (folder / name).write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_papers_three_patients_are_shipped(language: str) -> None:
    vignettes = load_vignettes(language)

    assert [(v.id, v.literacy.health, v.literacy.language) for v in vignettes] == [
        ("high-health-literacy", "high", "native"),
        ("low-health-literacy", "low", "native"),
        ("low-language-literacy", "low", "basic"),
    ]
    assert len({vignette.title for vignette in vignettes}) == 3
    for vignette in vignettes:
        assert vignette.language == language
        assert "$exam" in vignette.impersonation
        for low, high in (vignette.targets.words, vignette.targets.reading_ease, vignette.targets.jargon_share):
            assert low < high


def test_a_vignette_may_speak_one_language_only(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    write(tmp_path, {**GOOD, "id": "awake", "languages": {"de": TEXTS, "en": TEXTS}}, "awake.yaml")

    assert [vignette.id for vignette in load_vignettes("de", tmp_path)] == ["awake", "tired"]
    assert [vignette.id for vignette in load_vignettes("en", tmp_path)] == ["awake"]


def test_a_language_that_nobody_speaks_is_one_clear_line(tmp_path: Path) -> None:
    write(tmp_path, GOOD)

    with pytest.raises(BadData, match=r"No vignette in .+ speaks 'fr'\. Add `languages: fr:`"):
        load_vignettes("fr", tmp_path)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"id": "Tired Patient"}, "id"),
        ({"literacy": {"health": "none", "language": "native"}}, r"literacy\.health"),
        ({"literacy": {"health": "low"}}, r"literacy\.language"),
        ({"languages": {"de": {**TEXTS, "title": ""}}}, r"languages\.de\.title"),
        ({"languages": {"de": {**TEXTS, "mood": "bad"}}}, r"languages\.de\.mood"),
        ({"languages": {"de": {**TEXTS, "targets": {"words": [2, 9]}}}}, r"languages\.de\.targets\.reading_ease"),
        ({"age": 50}, "age"),
    ],
)
def test_a_wrong_entry_is_named_by_file_and_key(tmp_path: Path, change: dict[str, Any], key: str) -> None:
    file = write(tmp_path, {**GOOD, **change})

    with pytest.raises(BadData, match=rf"tired\.yaml is not valid: {key}: .+\. Mend this entry\.$"):
        load_file(file)


@pytest.mark.parametrize("content", [b"id: [", b"id: \xff", b"\x00"])
def test_a_file_that_is_no_yaml_is_one_clear_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tired.yaml").write_bytes(content)

    with pytest.raises(BadData, match=r"tired\.yaml cannot be read: .+\. Mend the file\.$"):
        load_file(tmp_path / "tired.yaml")


@pytest.mark.parametrize("content", ["", "just text", "- a\n- list\n"])
def test_a_file_that_is_no_mapping_is_one_clear_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "tired.yaml").write_text(content, encoding="utf-8")

    with pytest.raises(BadData, match=r"tired\.yaml is not valid"):
        load_file(tmp_path / "tired.yaml")
