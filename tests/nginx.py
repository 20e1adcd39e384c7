"""A real nginx with the file that is shipped (`docs/operations/nginx.conf`), on ports of this machine."""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from bot.resources import operations_folder

MISSING = "needs nginx: apt-get install nginx-light (it may be stopped), or make extras"
HERE, THERE = "127.0.0.1:8000", "127.0.0.2:8000"  # the processes in the file


@dataclass(frozen=True)
class Nginx:
    """A running nginx.

    Attributes:
        url: Where patients come to.
        plain: The same without encryption, which sends them there.
        folder: Of its logs.
        tls: Knows its certificate.
    """

    url: str
    plain: str
    folder: Path
    tls: ssl.SSLContext

    def logged(self) -> str:
        return "".join((self.folder / name).read_text() for name in ("log", "errors", "further"))


@contextmanager
def running_nginx(folder: Path, services: Sequence[str]) -> Iterator[Nginx]:
    """Start it in front of one or two services (`host:port`); skip the test where there is none to start."""
    # Where `make extras` puts it, and where Debian keeps it off the PATH.
    program = shutil.which("nginx", path=f"{sys.prefix}/bin:{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None or shutil.which("openssl") is None:
        pytest.skip(MISSING)
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=chat.example.org", "-days", "1"]
    made += ["-addext", "subjectAltName=DNS:chat.example.org,IP:127.0.0.1"]
    subprocess.run([*made, "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True)
    shutil.copy(operations_folder() / "away.html", folder)
    tls, plain = _free_port(), _free_port()
    text = (operations_folder() / "nginx.conf").read_text(encoding="utf-8")
    where = {
        "/etc/ssl/klartext/fullchain.pem": folder / "cert.pem",
        "/etc/ssl/klartext/key.pem": folder / "key.pem",
        "/var/log/nginx/klartext.log": folder / "log",
        "/usr/share/klartext": folder,
        "    listen 443 ssl http2;": f"    listen 127.0.0.1:{tls} ssl http2;",
        "    listen 80;": f"    listen 127.0.0.1:{plain};",
        **dict(zip((HERE, THERE), services, strict=False)),
    }
    for there, here in where.items():
        assert there in text
        text = text.replace(there, str(here))
    text = re.sub(r"    listen \[::\].*\n", "", text)
    if len(services) > 1:
        text = text.replace("    #server ", "    server ")  # as the file says
    user = "user root;" if os.geteuid() == 0 else ""
    # Where Debian's build keeps them may not be there: a machine may have the program without its package's folders.
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "\n".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"{user} daemon off; pid {folder}/pid; error_log {folder}/errors;\nevents {{}}\n"
        f"http {{ access_log {folder}/further;\n{temporary}\n{text}\n}}\n"
    )
    process = subprocess.Popen([program, "-c", str(folder / "nginx.conf")])
    known = ssl.create_default_context(cafile=folder / "cert.pem")
    found = Nginx(f"https://127.0.0.1:{tls}", f"http://127.0.0.1:{plain}", folder, known)
    try:
        for _ in range(100):
            with suppress(httpx.TransportError):
                httpx.get(found.url, verify=known)
                break
            time.sleep(0.05)
        yield found
    finally:
        process.terminate()
        process.wait(10)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])
