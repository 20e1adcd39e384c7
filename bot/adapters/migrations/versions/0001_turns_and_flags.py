"""Turns and flags."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "turns",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("conversation", sa.String(), nullable=False, index=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("decision", sa.String(), nullable=False, index=True),
        sa.Column("pair_id", sa.String(), nullable=True),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("catalog", sa.String(), nullable=False),
    )
    op.create_table(
        "flags",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("turn_id", sa.Integer(), sa.ForeignKey("turns.id", ondelete="CASCADE"), nullable=False, index=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("flags")
    op.drop_table("turns")
