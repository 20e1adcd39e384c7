"""Which keys texts are encrypted with, and an index to find what is old or has gone quiet."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table and the index."""
    op.create_table(
        "text_keys",
        sa.Column("key_id", sa.String(), primary_key=True),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_turns_at", "turns", ["at", "conversation"])


def downgrade() -> None:
    """Drop them; texts stay as they are stored."""
    op.drop_index("ix_turns_at", "turns")
    op.drop_table("text_keys")
