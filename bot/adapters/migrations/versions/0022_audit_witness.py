"""How far the audit log was seen to go, so that whoever cuts off its end is found out."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table; a service fills it."""
    op.create_table(
        "audit_witness",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("last", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("audit_witness")
