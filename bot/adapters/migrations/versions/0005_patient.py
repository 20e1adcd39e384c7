"""The hospital's pseudonym of a patient who came by the link of an appointment."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; conversations so far are anonymous."""
    op.add_column("conversations", sa.Column("patient", sa.String(), nullable=True))


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("conversations", "patient")
