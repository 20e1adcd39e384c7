"""What the staff of a department type, and the service beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.alarm_examples import FEW
from tests.bot.release.exams import change_pairs, write_exam
from tests.bot.web.serving import Server


class Ran:
    """What a command printed."""

    def __init__(self, ran: Any) -> None:
        self.stdout: str = ran.stdout.decode()
        self.stderr: str = ran.stderr.decode()


class Department:
    """An exam, a key, a database, and commands on them; the service does not know the private key."""

    def __init__(self, folder: Path, klartext: Any) -> None:
        self._klartext = klartext
        self.exam = write_exam(folder / "exam")
        self.environ = {
            "KLARTEXT_DATA": str(folder / "data"),
            "KLARTEXT_DATABASE_URL": f"sqlite:///{folder / 'klartext.db'}",
            FEW: "1",  # no alarm is judged here
        }
        printed = self.run("release", "new-key", "--out", folder / "key.pem").stdout
        self.environ["KLARTEXT_RELEASE_TRUST"] = printed.split("KLARTEXT_RELEASE_TRUST=")[1].strip()
        self.server = Server(folder, folder / "data", self.environ)
        self.environ["KLARTEXT_RELEASE_KEY_FILE"] = str(folder / "key.pem")

    def run(self, *arguments: str | Path, fails: bool = False) -> Ran:
        return self.stopped(*arguments, code=2 if fails else 0)

    def stopped(self, *arguments: str | Path, code: int) -> Ran:
        """Run a command that ends with an exit code."""
        ran = self._klartext(*arguments, environ=self.environ)
        assert ran.returncode == code, ran.stderr
        return Ran(ran)

    def approve(self) -> None:
        for name in ("Dr. Anna Berg", "Dr. Bert Tal"):
            self.run("qa", "approve", self.exam, "--by", name, "--until", "2099-12-31")

    def release(self, **texts: object) -> str:
        """Change the answer on pain, have all signed, and make a release of it."""
        if texts:
            change_pairs(self.exam, "de", only="pain", **texts)
        self.approve()
        return self.run("release", "make", self.exam, "--note", "Test").stdout
