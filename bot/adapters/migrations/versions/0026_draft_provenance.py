"""Where drafts come from that nobody typed, sentence by sentence."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; drafts that are there were typed."""
    op.add_column("drafts", sa.Column("provenance", sa.Text(), nullable=True))


def downgrade() -> None:
    """Drop the column; where drafts came from is gone, their texts stay."""
    with op.batch_alter_table("drafts") as table:
        table.drop_column("provenance")
