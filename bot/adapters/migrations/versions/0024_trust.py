"""Who could log in as whom: one-time passwords, resets, where attempts come from; and what proves a signature."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

# Of what is there nobody knows more than before: no reset is known, no signature is proven, and whoever added a near
# miss is nobody who could not sign it. Which names accounts had before is not known, but that they signed in is.
NEW: dict[str, tuple[str, ...]] = {
    "staff_people": ("one_time", "reset_at", "former"),
    "draft_signatures": ("seen", "after_reset", "proof"),
    "draft_near_misses": ("person",),
}


def _column(name: str) -> sa.Column[Any]:
    if name in ("one_time", "after_reset"):
        return sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false())
    if name == "reset_at":
        return sa.Column(name, sa.DateTime(timezone=True))
    if name == "former":
        return sa.Column(name, sa.String(), nullable=False, server_default="[]")
    if name == "person":
        return sa.Column(name, sa.Integer(), nullable=False, server_default="0")
    return sa.Column(name, sa.String(), nullable=False, server_default="")


def upgrade() -> None:
    """Add the columns and the table."""
    for table, names in NEW.items():
        for name in names:
            op.add_column(table, _column(name))
    op.create_table(
        "staff_places",
        sa.Column("person", sa.Integer(), sa.ForeignKey("staff_people.id"), primary_key=True),
        sa.Column("hash", sa.String(), primary_key=True),
        sa.Column("is_device", sa.Boolean(), nullable=False),
        sa.Column("wrong", sa.Integer(), nullable=False),
        sa.Column("closed_until", sa.DateTime(timezone=True)),
        sa.Column("seen", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_table("staff_places")
    for table, names in NEW.items():
        for name in names:
            op.drop_column(table, name)
