"""Files that patients sent, once each: events of their interviews name them."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "interview_files",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column(
            "conversation",
            sa.String(),
            sa.ForeignKey("interviews.conversation", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
    )


def downgrade() -> None:
    """Drop it: answers that name a file then have none."""
    op.drop_table("interview_files")
