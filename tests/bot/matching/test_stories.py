"""In a long message a sign that is told as a story alarms nobody; the same told beside a story alarms."""

from __future__ import annotations

import pytest

from bot.languages.files import forget
from bot.languages.opening import open_languages
from bot.matching.red_flags import EXCUSES, RedFlags, load_red_flags

STORIES = [
    # past, with a date or a stage of life; "now" and "suddenly" are about something else
    ("de", "Ich war neun, damals im Schwimmbad war ich bewusstlos, sagt meine Mutter. Seitdem mag ich enge Räume nicht, und jetzt soll ich in die Röhre. Gibt es eine offene?"),
    ("de", "Im Jahr 1998 hatte mein Vater auf der Baustelle einen Herzinfarkt, plötzlich lag er neben dem Mischer. Ich bin jetzt so alt wie er damals. Wie lange dauert die Aufnahme vom Herzen?"),
    ("de", "Vor sechs Jahren sind mir nach einer Infusion die Lippen angeschwollen. Gerade habe ich den Brief mit dem Termin bekommen, und ich frage mich, ob ich das dem Personal sagen muss."),
    ("en", "In 1998 my dad had his heart attack on a building site, suddenly he was lying by the mixer. I'm his age now and I'm not sleeping. How long does the heart scan take?"),
    ("en", "When I was six I fell through the ice and they say I'd stopped breathing when Dad got me out. Now they want my head in a cage for the picture. Can I have a mirror?"),
    ("en", "After my hip in May I talked rubbish for three hours from the anaesthetic, the kids still laugh about it. Do you give people anything like that, and can I drive now afterwards?"),
    # of strangers and of the dead
    ("de", "Eine Frau bei der Krankengymnastik hat erzählt, ihre Schwägerin sei bei so einer Untersuchung kollabiert. Ich glaube ja nicht alles, aber jetzt ist mir mulmig. Ist immer jemand da?"),
    ("en", "My great uncle choked to death in a mine, and Gran told it every Christmas. It came back to me yesterday when I opened your letter. How wide is the thing really?"),
    # dreams and what one imagines
    ("de", "Ich träume fast jede Nacht, dass ich im Sarg liege und ersticke, dann sitze ich im Bett. Mein Mann meint, ich soll einfach fragen. Wie weit ist die Öffnung bei Ihrem Gerät?"),
    ("en", "I keep dreaming that I'm shut in and can't breathe and I wake up on the landing. My husband says just ask them, so I'm asking now. Can the scanner be open at both ends?"),
    # words that mean something else
    ("de", "Der Arzt hat mit den Achseln gezuckt, die Schwester zuckt die Schultern, und ich stehe da mit meinem Zettel. Jetzt frage ich halt Sie, wozu das Kontrastmittel gut sein soll."),
    ("de", "Ich will noch nicht sterben, ich habe zwei kleine Enkel und einen Garten. Wenn die da etwas finden, dann ist alles anders. Bekomme ich das Ergebnis noch am selben Tag?"),
    ("de", "Beim Servieren habe ich heute schon ein Tablett fallen lassen, so nervös bin ich wegen der Mammographie am Freitag. Tut das Quetschen denn wirklich so weh, wie alle sagen?"),
    ("en", "My limp makes me slow, so how far is it from the car park, and is there somewhere for a fitting of the gown? My daughter would have a fit if she saw me in that thing."),
    ("fr", "L'été 2012 j'ai perdu connaissance après une piqûre de guêpe chez ma soeur. Maintenant j'ai reçu votre lettre pour l'IRM du genou. Est-ce que je dois le dire au personnel avant l'examen ?"),
]  # fmt: skip

HAPPENING = [
    ("de", "Vor zwei Jahren hatte ich beim CT schon so eine Reaktion mit dickem Hals. Ich war vorhin bei Ihnen und jetzt habe ich es wieder, die Lippen sind geschwollen und ich kriege schlecht Luft."),
    ("de", "2017 hatte ich einen Stent, davon war nie mehr die Rede. Seit heute früh drückt es mir die Brust zusammen, es zieht in den linken Arm, und ich schwitze. Soll ich trotzdem kommen?"),
    ("de", "Letzten Winter hatte meine Mutter einen Schlaganfall, davon hat sie sich gut erholt. Seit einer Stunde hängt ihr der Mundwinkel herunter und sie redet ganz verwaschen."),
    ("de", "Ich träume seit Wochen schlecht vom Krankenhaus und liege bis vier Uhr wach. Ich will nicht mehr leben, und wenn das MRT schlecht ist, mache ich Schluss, die Tabletten liegen bereit."),
    ("en", "Years ago I had a bad reaction at another hospital, throat closing up, couldn't breathe. I had your injection and it's happening again, my lips are huge and I can't get a proper breath."),
    ("en", "I had your scan in March and it went fine. I had the dye earlier and now my face is all puffed up, my throat feels like it's closing, and I can't really swallow."),
    ("en", "As a boy I was always fainting. My husband has just keeled over in your changing room, he's grey and he isn't answering me, I've rung the bell and nobody comes."),
    ("en", "A woman at church told me you can die of the dye. I laughed. Then I had mine this morning and my tongue is swelling and I'm covered in hives and wheezing, so who's laughing now."),
    ("fr", "En 2012 j'ai fait un malaise après une piqûre de guêpe. On m'a injecté le produit ce matin et maintenant j'ai la gorge qui gonfle, je n'arrive plus à respirer, ma langue est énorme."),
]  # fmt: skip


def rules(language: str) -> RedFlags:
    if language != "fr":
        return load_red_flags(language)
    open_languages(None, ["fr"])
    try:
        return load_red_flags("fr")
    finally:
        forget()


@pytest.mark.parametrize(("language", "text"), STORIES)
def test_a_story_in_a_long_message_alarms_nobody(language: str, text: str) -> None:
    assert rules(language).plain_flag(text) is None


@pytest.mark.parametrize(("language", "text"), HAPPENING)
def test_what_is_happening_alarms_whatever_is_told_beside_it(language: str, text: str) -> None:
    assert rules(language).plain_flag(text) is not None


@pytest.mark.parametrize("language", ["de", "en", "fr"])
def test_what_makes_a_story_is_an_excuse(language: str) -> None:
    kinds = rules(language).stories.kinds
    assert kinds
    assert set(kinds) <= EXCUSES
