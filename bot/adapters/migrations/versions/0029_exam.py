"""Which exam a conversation belongs to: one service may answer for several."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; conversations so far belong to the exam that answered their turns, else to the last that did."""
    op.add_column("conversations", sa.Column("exam", sa.String(), nullable=True))
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
    if last is not None:
        database.execute(conversations.update().where(conversations.c.exam.is_(None)).values(exam=last))


def downgrade() -> None:
    """Drop the column."""
    with op.batch_alter_table("conversations") as table:
        table.drop_column("exam")
