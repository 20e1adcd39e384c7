"""Which exam a conversation and a release belong to: one service may answer for several."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; conversations so far belong to the exam that answered their turns, else to the last that did."""
    op.add_column("conversations", sa.Column("exam", sa.String(), nullable=True))
    op.add_column("releases", sa.Column("exam", sa.String(), nullable=True))
    conversations = sa.table("conversations", sa.column("id", sa.String()), sa.column("exam", sa.String()))
    texts = [sa.column(name, sa.String()) for name in ("conversation", "catalog")]
    turns = sa.table("turns", sa.column("id", sa.Integer()), *texts)
    database = op.get_bind()
    named, last = dict[str, str](), None
    for row in database.execute(sa.select(turns.c.conversation, turns.c.catalog).order_by(turns.c.id)):
        last = named[row.conversation] = str(row.catalog).partition("@")[0]
    for name in sorted(set(named.values())):
        mine = [conversation for conversation, exam in named.items() if exam == name]
        for start in range(0, len(mine), 500):  # databases take only so many values at once
            some = conversations.c.id.in_(mine[start : start + 500])
            database.execute(conversations.update().where(some).values(exam=name))
    releases = sa.table("releases", *(sa.column(name) for name in ("number", "manifest", "exam")))
    for row in database.execute(sa.select(releases.c.number, releases.c.manifest)).all():
        made = releases.update().where(releases.c.number == row.number)
        database.execute(made.values(exam=json.loads(row.manifest)["exam"]))
    if last is not None:
        database.execute(conversations.update().where(conversations.c.exam.is_(None)).values(exam=last))


def downgrade() -> None:
    """Drop the columns."""
    for name in ("conversations", "releases"):
        with op.batch_alter_table(name) as table:
            table.drop_column("exam")
