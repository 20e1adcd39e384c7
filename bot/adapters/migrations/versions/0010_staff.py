"""Calls for staff, one a conversation, and what staff did about them."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "staff_calls",
        sa.Column("conversation", sa.String(), sa.ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False, index=True),
        sa.Column("name", sa.String()),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("opened", sa.DateTime(timezone=True), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True)),
        sa.Column("told", sa.Integer(), nullable=False),
        sa.Column("held_until", sa.DateTime(timezone=True)),
        sa.Column("shown", sa.Integer(), nullable=False),
        sa.Column("taken_at", sa.Integer()),
    )
    op.create_table(
        "staff_actions",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "conversation",
            sa.String(),
            sa.ForeignKey("conversations.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("name", sa.String()),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("text", sa.String()),
        sa.Column("turn", sa.Integer(), nullable=False),
    )


def downgrade() -> None:
    """Drop them: what staff wrote is gone, and who waits for them is no longer known."""
    op.drop_table("staff_actions")
    op.drop_table("staff_calls")
