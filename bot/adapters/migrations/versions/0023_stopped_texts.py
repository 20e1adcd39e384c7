"""Which texts a stop withdrew: they stay stopped in later releases, too."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; stops so far withdrew the texts of the releases that there were then."""
    op.add_column("stops", sa.Column("texts", sa.Text(), nullable=False, server_default=""))
    connection = op.get_bind()
    stops = connection.execute(sa.text("SELECT id, pair_id, release FROM stops WHERE kind = 'withdraw'")).all()
    if not stops:
        return
    manifests = connection.execute(sa.text("SELECT number, manifest FROM releases")).all()
    for id_, pair_id, release in stops:
        texts = {
            text
            for number, manifest in manifests
            if number <= release
            for what, text in json.loads(manifest)["texts"].items()
            if what.startswith(f"pair {pair_id} ")
        }
        update = sa.text("UPDATE stops SET texts = :texts WHERE id = :id")
        connection.execute(update, {"texts": " ".join(sorted(texts)), "id": id_})


def downgrade() -> None:
    """Drop the column: signing the same text again lifts a stop then."""
    op.drop_column("stops", "texts")
