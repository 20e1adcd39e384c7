"""Interviews and what happened in them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "interviews",
        sa.Column("conversation", sa.String(), primary_key=True),
        sa.Column("form", sa.Text(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "interview_events",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "conversation",
            sa.String(),
            sa.ForeignKey("interviews.conversation", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("said", sa.Text(), nullable=True),
        sa.UniqueConstraint("conversation", "number"),
    )


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("interview_events")
    op.drop_table("interviews")
