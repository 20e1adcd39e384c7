"""Releases, which of them came into force when, emergency stops; the release of a conversation and of a turn."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, and columns that stay empty for what was said before there were releases."""
    op.create_table(
        "releases",
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("made", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("manifest", sa.Text(), nullable=False),
        sa.Column("signature", sa.String(), nullable=False),
        sa.Column("files", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "release_switches",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("move", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), sa.ForeignKey("releases.number"), nullable=False),
    )
    op.create_table(
        "stops",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("pair_id", sa.String(), nullable=False),
        sa.Column("release", sa.Integer(), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
    )
    op.add_column("conversations", sa.Column("release", sa.Integer()))
    op.add_column("turns", sa.Column("release", sa.String()))
    op.add_column("services", sa.Column("release", sa.Integer()))


def downgrade() -> None:
    """Drop them: which release said what is no longer known."""
    op.drop_column("services", "release")
    op.drop_column("turns", "release")
    op.drop_column("conversations", "release")
    op.drop_table("stops")
    op.drop_table("release_switches")
    op.drop_table("releases")
