"""Appointment, order and accession number that the link of an appointment names."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None
NAMES = ("appointment", "order_number", "accession")


def upgrade() -> None:
    """Add the columns; of conversations so far none of it is known."""
    for name in NAMES:
        op.add_column("conversations", sa.Column(name, sa.String(), nullable=True))


def downgrade() -> None:
    """Drop the columns."""
    for name in NAMES:
        op.drop_column("conversations", name)
