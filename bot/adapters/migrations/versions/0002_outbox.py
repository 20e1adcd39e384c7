"""The outbox: conversations on their way to a FHIR server."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("conversation", sa.String(), nullable=False, index=True),
        sa.Column("put_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("bundle", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("claimed_by", sa.String(), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True, index=True),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("outbox")
