"""Bad input to the command line: exit code 2 and one line that names the next step."""

from pathlib import Path

import pytest

from tests.conftest import Run

NO_EXTRA = "sys.modules['sentence_transformers'] = None"  # as if it were not installed
CHROMA = "http://127.0.0.1:1"  # a port that nobody listens on; the same in every process that collects tests


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize(
    ("args", "stdin", "environ", "before", "expected"),
    [
        (["answer", "--catalog", "no-such-exam"], "weh?", {}, "", "No catalog at 'no-such-exam'"),
        (["answer", "--encoder", "magic"], "weh?", {}, "", "There is no encoder 'magic'"),
        (["answer", "--encoder", "openai:m"], "weh?", {}, "", "KLARTEXT_EMBEDDINGS_URL"),
        (["answer", "/no/such/file"], "", {}, "", "There is no file '/no/such/file'"),
        (["answer", "/"], "", {}, "", "There is no file '/'"),
        (["answer", "/proc/self/mem"], "", {}, "", "cannot be read (Input/output error)"),
        (["answer", "--data", "/dev/null/data"], "weh?", {}, "", "The data folder /dev/null/data cannot be written"),
        (["answer"], "weh?", {"KLARTEXT_DATA": "/dev/null/x"}, "", "Choose another one with `--data FOLDER`"),
        (["answer"], '{"text": "weh?"}', {}, "", "Line 1 is JSON without a text `question`"),
        (["answer"], '{"question": 5}', {}, "", "Line 1 is JSON without a text `question`"),
        (["answer"], '{"question": "weh?", "lang": "fr"}', {}, "", "Line 1 asks for language 'fr'"),
        (["answer", "--encoder", "sentence-transformers:x"], "weh?", {}, NO_EXTRA, "klartext[sentence-transformers]"),
        (["answer", "--explain"], "weh?", {"KLARTEXT_CHROMA_URL": CHROMA}, "", f"The Chroma server {CHROMA} does not"),
        (["chat", "--catalog", "no-such-exam"], "", {}, "", "No catalog at 'no-such-exam'"),
        (["chat"], "", {"KLARTEXT_DATABASE_URL": "x://a:geheim@b/c"}, "", "The database b/c cannot be used"),
        (["qa", "lint", "no-such-exam"], "", {}, "", "No catalog at 'no-such-exam'"),
        (["qa", "list", "no-such-exam"], "", {}, "", "No catalog at 'no-such-exam'"),
        (
            ["qa", "import", "/no/file.csv", "--out", "out", "--lang", "de"],
            "",
            {},
            "",
            "There is no file or folder '/no/file.csv'",
        ),
    ],
)
def test_bad_input_ends_in_one_line_and_exit_code_2(
    klartext: Run, args: list[str], stdin: str, environ: dict[str, str], before: str, expected: str
) -> None:
    done = klartext(*args, stdin=stdin.encode(), environ=environ, before=before)

    lines = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout, len(lines)) == (2, b"", 1), done.stderr.decode()
    assert lines[0].startswith("klartext: ")
    assert expected in lines[0]
    assert "geheim" not in lines[0]


def test_a_catalog_without_approved_pairs_is_told_of_by_the_library(small_folder: Path, tmp_path: Path) -> None:
    from bot import Assistant, UserFixable
    from bot.testing import HashEncoder

    with pytest.raises(UserFixable, match=r"No pair of small@1 \(de\) is approved .*--sample"):
        Assistant.open(small_folder, data=tmp_path, encoder=HashEncoder())


@pytest.mark.parametrize("args", [["--version"], ["--help"], ["answer", "--help"], ["qa", "--help"]])
def test_help_and_version_are_printed(klartext: Run, args: list[str]) -> None:
    done = klartext(*args)

    assert done.returncode == 0
    assert done.stdout.strip()
