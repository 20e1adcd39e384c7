"""A blind index of patients' pseudonyms, so that a patient's conversations are found without decrypting all."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; a command that writes fills it, since that needs keys."""
    op.add_column("conversations", sa.Column("patient_blind", sa.String(), nullable=True))
    op.create_index("ix_conversations_patient_blind", "conversations", ["patient_blind"])


def downgrade() -> None:
    """Drop the column."""
    op.drop_index("ix_conversations_patient_blind", "conversations")
    op.drop_column("conversations", "patient_blind")
