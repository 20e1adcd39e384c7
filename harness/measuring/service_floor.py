"""The floor: a bare FastAPI endpoint that commits two rows. Run as `python -m harness.measuring.service_floor URL`.

It is written as one would write it without Klartext: SQLAlchemy, one transaction, durable SQLite, in FastAPI's threads.
"""

from __future__ import annotations

import socket
import sys
import uuid

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sqlalchemy import Engine, String, create_engine, event
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    """The floor's own table; it lies beside the records."""


class FloorRow(Base):
    """What was said, by whom."""

    __tablename__ = "floor"

    id: Mapped[int] = mapped_column(primary_key=True)
    conversation: Mapped[str] = mapped_column(String, index=True)
    said: Mapped[str]


class Said(BaseModel):
    """A message."""

    turn_id: str
    text: str


class FloorReply(BaseModel):
    """A reply."""

    turn_id: str
    text: str


def build_floor(engine: Engine) -> FastAPI:
    """Return the application."""
    Base.metadata.create_all(engine)
    app = FastAPI()

    def turn(conversation: str, said: Said) -> FloorReply:
        with Session(engine) as session:
            session.add(FloorRow(conversation=conversation, said=said.text))
            session.add(FloorRow(conversation=conversation, said=said.text))
            session.commit()
        return FloorReply(turn_id=said.turn_id, text=said.text)

    def begin() -> dict[str, str]:
        return {"id": uuid.uuid4().hex, "token": uuid.uuid4().hex}

    app.add_api_route("/api/v1/conversations/{conversation}/turns", turn, methods=["POST"])
    app.add_api_route("/api/v1/conversations", begin, methods=["POST"], status_code=201)
    return app


def durable(connection: object, _: object) -> None:
    """Commit to SQLite as the records do: what is acknowledged survives a power cut."""
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def main(url: str) -> None:
    """Serve on a free port and say which."""
    engine = create_engine(url, connect_args={"timeout": 30} if url.startswith("sqlite") else {})
    if url.startswith("sqlite"):
        event.listen(engine, "connect", durable)
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    server = uvicorn.Server(uvicorn.Config(build_floor(engine), log_level="warning", access_log=False))
    print(f"The floor listens on http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    server.run(sockets=[listening])


if __name__ == "__main__":
    main(sys.argv[1])
