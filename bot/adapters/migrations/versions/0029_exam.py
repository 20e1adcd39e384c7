"""Which exam a conversation belongs to: one service may answer for several."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; conversations so far belong to the exam that answered their turns, or else the database's last."""
    op.add_column("conversations", sa.Column("exam", sa.String(), nullable=True))
    conversations = sa.table("conversations", sa.column("id", sa.String()), sa.column("exam", sa.String()))
    turns = sa.table(
        "turns", sa.column("id", sa.Integer()), sa.column("conversation", sa.String()), sa.column("catalog", sa.String())
    )
    database = op.get_bind()
    named, last = dict[str, str](), None
    for conversation, catalog in database.execute(_in_order(turns)):
        last = named[conversation] = catalog.partition("@")[0]
    for name in sorted(set(named.values())):
        mine = [conversation for conversation, exam in named.items() if exam == name]
        for start in range(0, len(mine), 500):  # databases take only so many values at once
            some = conversations.c.id.in_(mine[start : start + 500])
            database.execute(conversations.update().where(some).values(exam=name))
    if last is not None:
        database.execute(conversations.update().where(conversations.c.exam.is_(None)).values(exam=last))


def _in_order(turns: sa.TableClause) -> sa.Select[tuple[str, str]]:
    """Return the conversations of all turns with the catalog that answered, the latest last."""
    return sa.select(turns.c.conversation, turns.c.catalog).order_by(turns.c.id)


def downgrade() -> None:
    """Drop the column."""
    with op.batch_alter_table("conversations") as table:
        table.drop_column("exam")
