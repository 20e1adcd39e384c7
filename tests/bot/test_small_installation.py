"""Without the extras `chroma` and `openai` one process serves, with equal results; what needs them says so in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import numpy as np
import pytest

from bot import Assistant, Settings
from bot.adapters.chroma_index import ChromaStore
from bot.adapters.vector_files import VectorFiles
from bot.ports import Entry, Vectors, entry_id
from bot.private_files import Derived, Seal
from bot.testing import HashEncoder, write_small_catalog
from tests.alarm_examples import FEW
from tests.bot.web.serving import Patient, Server
from tests.conftest import Run

# What chromadb and openai bring, and other things that no small installation has: to import one of them fails.
LARGE = (
    *("chromadb", "chromadb_rust_bindings", "grpc", "httpx2", "huggingface_hub", "kubernetes", "onnxruntime", "openai"),
    *(
        "opentelemetry.exporter",
        "opentelemetry.sdk",
        "orjson",
        "requests",
        "tenacity",
        "tokenizers",
        "tqdm",
        "websockets",
    ),
    *("dask", "duckdb", "matplotlib", "pandas", "psycopg", "pyarrow", "sklearn", "sympy", "torch", "transformers"),
)
REFUSED = f"""
import sys
class Refusing:
    def find_spec(self, name, path=None, target=None):
        if any((name + ".").startswith(each + ".") for each in {LARGE!r}):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Refusing())
"""
TEACHES_FEW = "from tests.alarm_examples import teach_few_if_told; teach_few_if_told()"
TEXTS = [f"Wie lange dauert es bei Fall {number}?" for number in range(1200)] + ["Tut es weh?", "Was kostet es?"]
ENTRIES = [Entry(entry_id(number), f"pair-{number % 7}", text) for number, text in enumerate(TEXTS)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("service")
    catalog = write_small_catalog(folder / "catalog", languages=["de"])
    server = Server(folder, folder / "data", {FEW: "1"}, faults=REFUSED + TEACHES_FEW, fresh=True)
    server.start("--catalog", str(catalog))
    yield server
    server.stop()


@pytest.mark.proof
def test_one_process_teaches_and_serves_without_the_large_packages(server: Server) -> None:
    patient = Patient(server)

    assert any("pain, de" in text or "(pain, de)" in text for text in patient.say("Tut die Untersuchung weh?"))
    assert httpx.get(server.url + "/healthz").json()["status"] == "ready"


@pytest.mark.proof
def test_the_line_at_its_start_says_where_vectors_are(server: Server) -> None:
    assert "(sample mode, vectors in files, without the extra 'chroma')" in server.stdout()


def _answers(folder: Path, settings: Settings) -> list[tuple[object, ...]]:
    assistant = Assistant.open(folder, settings=settings, encoder=HashEncoder(), sample=True)
    said = list[tuple[object, ...]]()
    for question in ("weh?", "Wer bezahlt das?", "geht das schnell", "Wie wird das Wetter?"):
        answer, told = assistant.answer(question, "de"), assistant.explain(question, "de")
        near = [(each.pair_id, each.text, round(each.similarity, 4)) for each in told.nearest[:1]]
        said.append((answer.decision, answer.pair_id, round(answer.score, 4), near))
    return said


@pytest.mark.usefixtures("few_alarm_examples")
def test_the_assistant_decides_alike_with_and_without_chroma(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_small_catalog(tmp_path / "catalog", languages=["de"])
    with_chroma = _answers(folder, Settings(data=tmp_path / "with"))

    monkeypatch.setitem(sys.modules, "chromadb", None)
    without = _answers(folder, Settings(data=tmp_path / "without"))

    assert without == with_chroma
    assert (tmp_path / "with" / "chroma").is_dir()
    assert (tmp_path / "without" / "vectors").is_dir()
    assert not (tmp_path / "without" / "chroma").exists()


def test_files_find_what_chroma_finds(tmp_path: Path) -> None:
    in_chroma = ChromaStore.embedded(tmp_path / "chroma").index("texts", ENTRIES, HashEncoder())
    in_files = VectorFiles(Derived(tmp_path, Seal(b"key"))).index("texts", ENTRIES, HashEncoder())

    np.testing.assert_allclose(in_files.vectors(), in_chroma.vectors(), atol=1e-6)
    for text in ("Tut es weh?", "Was kostet es eigentlich?", "Wie lange dauert Fall 17?"):
        query = 3 * HashEncoder().encode([text])[0]
        found, wanted = in_files.nearest(query, k=5), in_chroma.nearest(query, k=5)
        np.testing.assert_allclose([each.similarity for each in found], [each.similarity for each in wanted], atol=1e-5)
        assert found[0].text == wanted[0].text or found[0].similarity == pytest.approx(found[1].similarity)


def test_vectors_are_encoded_once_and_those_that_others_changed_are_made_anew(tmp_path: Path) -> None:
    encoder = HashEncoder()
    place = Derived(tmp_path, Seal(b"key"))
    before = VectorFiles(place).index("texts", ENTRIES, encoder).vectors()
    VectorFiles(place).index("texts", ENTRIES, encoder)
    assert encoder.encoded == len(TEXTS)
    (file,) = (tmp_path / "vectors").iterdir()
    content = bytearray(file.read_bytes())
    content[-4:] = b"\0\0\x80?"
    file.write_bytes(content)

    after = VectorFiles(place).index("texts", ENTRIES, encoder).vectors()

    assert encoder.encoded == 2 * len(TEXTS)
    np.testing.assert_array_equal(after, before)


class Failing(HashEncoder):
    """Stops after the first thousand."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        if self.encoded:
            raise RuntimeError("the machine stops")
        return super().encode(texts)


def test_vectors_that_were_not_finished_are_not_there(tmp_path: Path) -> None:
    place, encoder = Derived(tmp_path, Seal(b"key")), HashEncoder()
    with pytest.raises(RuntimeError, match="the machine stops"):
        VectorFiles(place).index("texts", ENTRIES, Failing())

    assert len(VectorFiles(place).index("texts", ENTRIES, encoder).vectors()) == encoder.encoded == len(TEXTS)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("arguments", "environ", "extra"),
    [
        (["answer", "--explain"], {"KLARTEXT_CHROMA_URL": "http://127.0.0.1:1"}, "chroma"),
        (["serve", "--sample", "--port", "0"], {"KLARTEXT_CHROMA_URL": "http://127.0.0.1:1"}, "chroma"),
        (["answer", "--encoder", "openai:x"], {"KLARTEXT_EMBEDDINGS_URL": "http://127.0.0.1:1/v1"}, "openai"),
        (
            ["harness", "batch", "in.jsonl", "--out", "out.jsonl"],
            {"KLARTEXT_MODEL_URL": "http://127.0.0.1:1"},
            "openai",
        ),
    ],
)
def test_what_needs_an_extra_says_which(
    klartext: Run, arguments: list[str], environ: dict[str, str], extra: str
) -> None:
    done = klartext(*arguments, stdin=b"weh?\n", environ=environ, before=f"exec({REFUSED!r})")

    assert done.returncode == 2
    assert done.stderr.decode().count("\n") == 1, done.stderr.decode()
    assert f"Run `pip install 'klartext[{extra}]'`." in done.stderr.decode()
