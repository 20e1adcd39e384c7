"""For which exam a stop holds: one service may answer for several."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; stops so far hold for all."""
    op.add_column("stops", sa.Column("exam", sa.String(), nullable=False, server_default=""))


def downgrade() -> None:
    """Drop the column: a stop of one exam holds for all then, and nothing that was stopped is shown."""
    with op.batch_alter_table("stops") as table:
        table.drop_column("exam")
