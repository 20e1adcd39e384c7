"""Every database has a witness of the audit log from the start: one that has none any more has lost it."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the row that has seen nothing yet, where there is none."""
    witness = sa.table(
        "audit_witness",
        sa.column("id", sa.Integer()),
        sa.column("lines", sa.Integer()),
        sa.column("last", sa.String()),
        sa.column("at", sa.DateTime(timezone=True)),
    )
    if op.get_bind().execute(sa.select(witness.c.id)).first() is None:
        op.execute(witness.insert().values(id=1, lines=0, last="", at=datetime.now(UTC)))


def downgrade() -> None:
    """Leave it: the version before reads it as what it is."""
