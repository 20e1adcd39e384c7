"""Conversations, and what a turn needs to be repeated and gone on from."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

NEW_IN_TURNS = {
    "number": sa.Integer,
    "turn_id": sa.String,
    "said": sa.String,
    "choice": sa.Integer,
    "reply": sa.String,
    "state": sa.String,
}


def upgrade() -> None:
    """Add to what is there; nothing stored is lost but complaints that were sent twice."""
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("begun", sa.DateTime(timezone=True), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("secret_hash", sa.String(), nullable=True),
        sa.Column("consented", sa.Boolean(), nullable=False),
    )
    for name, type_ in NEW_IN_TURNS.items():
        op.add_column("turns", sa.Column(name, type_(), nullable=True))
    op.create_index("uq_turns_number", "turns", ["conversation", "number"], unique=True)
    op.create_index("uq_turns_turn_id", "turns", ["conversation", "turn_id"], unique=True)
    op.add_column("flags", sa.Column("comment", sa.String(), nullable=False, server_default=""))
    op.execute("DELETE FROM flags WHERE id NOT IN (SELECT MIN(id) FROM flags GROUP BY turn_id, reason)")
    op.create_index("uq_flags_reason", "flags", ["turn_id", "reason"], unique=True)


def downgrade() -> None:
    """Drop what was added."""
    op.drop_index("uq_flags_reason", "flags")
    op.drop_column("flags", "comment")
    op.drop_index("uq_turns_turn_id", "turns")
    op.drop_index("uq_turns_number", "turns")
    for name in reversed(NEW_IN_TURNS):
        op.drop_column("turns", name)
    op.drop_table("conversations")
