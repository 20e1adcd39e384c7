"""What the program says where the shipped catalog of mammography answers."""

from __future__ import annotations

from bot import locate
from bot.catalog.exam import load_exam
from bot.sentences.wording import wording_of

SHIPPED = wording_of(load_exam(locate("mammography")))
SAID, PHRASES = SHIPPED.sentences, SHIPPED.phrases
