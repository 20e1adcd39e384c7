"""Questions that wait for curators, scrubbed, with what was decided about them; and texts whose patients are gone."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table; an item goes with its turn."""
    op.create_table(
        "inbox_items",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("turn", sa.Integer(), sa.ForeignKey("turns.id", ondelete="CASCADE"), nullable=False, unique=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("cluster", sa.Integer(), nullable=False, index=True),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("pair", sa.String(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.Column("state", sa.String(), nullable=False, index=True),
        sa.Column("batch", sa.String(), nullable=False, index=True),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("decided", sa.DateTime(timezone=True)),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("added", sa.String(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.add_column("draft_origins", sa.Column("gone", sa.DateTime(timezone=True)))
    op.add_column("draft_origins", sa.Column("gone_why", sa.String(), nullable=False, server_default=""))
    op.add_column("draft_origins", sa.Column("kept_by", sa.String(), nullable=False, server_default=""))


def downgrade() -> None:
    """Drop it: what was decided is gone; the questions themselves stay in their turns."""
    with op.batch_alter_table("draft_origins") as origins:
        for name in ("kept_by", "gone_why", "gone"):
            origins.drop_column(name)
    op.drop_table("inbox_items")
