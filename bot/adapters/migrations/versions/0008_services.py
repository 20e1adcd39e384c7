"""Which services run, and which keys they know."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "services",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("key_ids", sa.String(), nullable=False),
        sa.Column("seen", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    """Drop it; services that run write to it again after the next upgrade."""
    op.drop_table("services")
