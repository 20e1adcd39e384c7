"""Red flags leave by themselves; what the outbox took in before holds them among all else. And a row to try writing."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

URGENT = "SELECT 1 FROM turns WHERE turns.conversation = outbox.conversation AND turns.decision = 'urgent'"
# Each urgent turn that an entry of the old kind holds is noted as handed over, or it would be sent a second time.
NOTED = """
INSERT INTO outbox (conversation, put_at, bundle, attempts, accepted_at, turn, urgent)
SELECT turns.conversation, turns.at, '', 0, (
    SELECT max(outbox.put_at) FROM outbox WHERE outbox.conversation = turns.conversation
), turns.id, :urgent
FROM turns WHERE turns.decision = 'urgent' AND EXISTS (
    SELECT 1 FROM outbox WHERE outbox.conversation = turns.conversation AND outbox.put_at >= turns.at
)
"""


def upgrade() -> None:
    """Add the columns and the table, and note what is on its way in the old manner."""
    op.add_column("outbox", sa.Column("turn", sa.Integer(), nullable=True))
    op.add_column("outbox", sa.Column("urgent", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("outbox", sa.Column("retry_at", sa.DateTime(timezone=True), nullable=True))
    held = sa.text(f"UPDATE outbox SET urgent = :urgent WHERE EXISTS ({URGENT} AND turns.at <= outbox.put_at)")
    op.execute(held.bindparams(urgent=True))
    op.execute(sa.text(NOTED).bindparams(urgent=True))
    op.create_index("uq_outbox_turn", "outbox", ["conversation", "turn", "put_at"], unique=True)
    op.create_table(
        "write_probe",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("written", sa.Integer(), nullable=False),
    )
    op.execute("INSERT INTO write_probe (id, written) VALUES (1, 0)")


def downgrade() -> None:
    """Drop them; red flags that wait stay as what an older version sends, too."""
    op.drop_table("write_probe")
    op.drop_index("uq_outbox_turn", "outbox")
    op.execute("DELETE FROM outbox WHERE turn IS NOT NULL AND accepted_at IS NOT NULL")
    for name in ("turn", "urgent", "retry_at"):
        op.drop_column("outbox", name)
