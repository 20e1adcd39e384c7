"""A small catalog whose variants have authors, a suite for it, and an encoder that says nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np
import numpy.typing as npt
import yaml

from bot import load_catalog
from bot.testing import SMALL_PAIRS
from harness.patients.suites import Question, QuestionSource, Recording, Suite, load_suite, save_suite

TOPICS = {
    "pain": ["tut das Pressen weh", "sind Schmerzen normal", "ist die Aufnahme schmerzhaft", "spüre ich das Drücken"],
    "costs": ["was kostet das Röntgen", "zahlt die Kasse alles", "welcher Preis gilt", "wer bezahlt die Rechnung"],
    "duration": ["wie lange dauert das Röntgen", "wie viele Minuten", "geht die Aufnahme schnell", "wie viel Zeit"],
}
VOICES = {
    "plain": "{}?",
    "story": "Meine Nachbarin hat mich gefragt: {} bei Ihnen?",
    "simple": "bitte sagen {} für mich",
    "polite": "Entschuldigung, {} denn ungefähr?",
}
ASKED = [
    ("Ist das Pressen sehr schmerzhaft für mich?", "pain"),
    ("Wer zahlt am Ende den Preis?", "costs"),
    ("Dauert die Aufnahme lange oder geht es schnell?", "duration"),
    ("Kann mein Hund mitkommen?", None),
]


def write_authored_catalog(folder: Path, *, calibration: bool = False) -> Path:
    """Write three pairs with four variants by each of four authors."""
    pairs = [
        {
            "id": name,
            "question": SMALL_PAIRS["de"][name][0],
            "answer": f"Antwort {name}.",
            "variants": [
                {"text": voice.format(topic), "by": {"kind": "model", "profile": author}}
                for author, voice in VOICES.items()
                for topic in topics
            ],
        }
        for name, topics in TOPICS.items()
    ]
    document = {"catalog": "small", "language": "de", "version": "1", "pairs": pairs}
    background = {"catalog": "small", "language": "de", "questions": {"off": ["Wie wird das Wetter?", "Guten Tag"]}}
    (folder / "background").mkdir(parents=True)
    (folder / "de.yaml").write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    (folder / "background" / "de.yaml").write_text(yaml.safe_dump(background), encoding="utf-8")
    if calibration:
        lines = [
            json.dumps({"text": f"{text} Frage {number}", "pair_id": pair_id, "stratum": "one"})
            for number in range(60)
            for text, pair_id in ASKED[:3]
        ]
        (folder / "calibration").mkdir()
        (folder / "calibration" / "de.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def write_authored_suite(folder: Path, catalog: Path, asked: Sequence[tuple[str, str | None]] = tuple(ASKED)) -> Suite:
    """Write a suite; without questions of its own, one of four questions, the last of them novel."""
    questions = tuple(
        Question(
            id=f"q/{number}",
            text=text,
            lang="de",
            vignette="low-health-literacy",
            pair_id=pair_id,
            kind="paraphrase" if pair_id else "novel",
            source=QuestionSource(kind="model", model="scripted", answered="offline"),
        )
        for number, (text, pair_id) in enumerate(asked)
    )
    recording = Recording(questions, (), {})
    save_suite(folder, catalog=load_catalog(catalog, "de"), note="", recording=recording, today=date(2026, 1, 1))
    return load_suite(folder)


class SilentEncoder:
    """Every text means the same."""

    name = "silent"

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = np.zeros((len(texts), 8), dtype=np.float32)
        vectors[:, 0] = 1
        return vectors
