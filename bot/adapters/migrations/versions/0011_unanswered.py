"""What of a call is unanswered, who has it now, and what stays of one that a patient deleted."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; what waits already waits for what its call is for."""
    op.add_column("staff_calls", sa.Column("pressing", sa.String(), nullable=False, server_default=""))
    op.add_column("staff_calls", sa.Column("rings", sa.DateTime(timezone=True)))
    op.add_column("staff_calls", sa.Column("unanswered", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("staff_calls", sa.Column("hands", sa.Integer(), nullable=False, server_default="0"))
    op.execute("UPDATE staff_calls SET pressing = kind, rings = since WHERE since IS NOT NULL")
    op.create_table(
        "staff_deleted",
        sa.Column("pseudonym", sa.String(), primary_key=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True)),
        sa.Column("told", sa.Boolean(), nullable=False),
        sa.Column("held_until", sa.DateTime(timezone=True)),
    )


def downgrade() -> None:
    """Drop them: messages that nobody has answered age no longer."""
    op.drop_table("staff_deleted")
    with op.batch_alter_table("staff_calls") as calls:
        for name in ("hands", "unanswered", "rings", "pressing"):
            calls.drop_column(name)
