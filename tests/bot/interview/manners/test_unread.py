"""Words that no form here can read: told by script and by common words, and not seen in what people here write."""

from __future__ import annotations

from bot.interview.manners.unread import is_unread

FOREIGN = """
У меня кардиостимулятор
я беременна 12 недель
Є осколок в оці
عندي جهاز في القلب
我有心脏起搏器
noszę rozrusznik serca
jestem w ciąży
mam rozrusznik serca
kalp pilim var
gozumde metal var
gözümde metal var
hamileyim
ho un pacemaker
sono incinta
tengo un marcapasos
estou grávida
sunt însărcinată
imam geler u nozi
mám kardiostimulátor
szívritmus-szabályozóm van
kam një protezë
waan uur leeyahay
""".strip().splitlines()
HERE = """
nein
i ha nüt
hob i ned
noi, gar nix
koa Metall im Kopf
nö
merci vielmal
Grüezi mitenand
weet ik nich
Ibuprofen 600
Dr. Şahin hat mich operiert
Blinddarm
Haselnüsse und Pollen
Medtronic Azure XT
Metallica Fan
hay fever
nah
no mate
och aye, nae bother
my mam has one
tonsils
left hip
cu wednesday
65 µg
α-Blocker
""".strip().splitlines()


def test_what_is_in_another_language_or_script_cannot_be_read() -> None:
    assert [text for text in FOREIGN if not is_unread(text)] == []


def test_german_and_english_can_in_any_dialect_and_names_of_things() -> None:
    assert [text for text in HERE if is_unread(text)] == []
