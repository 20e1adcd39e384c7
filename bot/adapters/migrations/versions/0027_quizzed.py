"""What turns were to quizzes that check an explanation: of which pair, and what came of it."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; nobody was asked before."""
    op.add_column("turns", sa.Column("quizzed", sa.String(), nullable=True))


def downgrade() -> None:
    """Drop the column; what patients answered stays in the replies."""
    with op.batch_alter_table("turns") as table:
        table.drop_column("quizzed")
