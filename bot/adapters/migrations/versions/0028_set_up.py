"""What processes on one database must have alike, with their signs of life."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; processes of earlier versions leave it empty, and nothing is compared with them."""
    op.add_column("services", sa.Column("set_up", sa.String(), nullable=True))


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("services", "set_up")
