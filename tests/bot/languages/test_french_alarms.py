"""What French alarms hear, and what sounds alike and is harmless: everyday talk, old illness, handicaps, a form's answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.languages.files import forget
from bot.languages.opening import open_languages
from bot.matching.red_flags import RedFlags, load_red_flags

URGENT = {
    "acute": [
        # caught in the machine
        "je suis restée coincée dans le mammographe, ouvrez",
        "mon sein est coincé entre les plaques, ça ne se desserre pas",
        "la palette ne remonte plus, au secours",
        "l'appareil me tient, je n'arrive pas à me dégager",
        "j'arrive plus à me dégager de la machine et y a personne",
        "les plaques restent serrées sur mon sein, personne ne vient",
        # violence, now or at home
        "mon mari me cogne",
        "mon copain me tabasse",
        "mon ex me met des baffes",
        "je suis battue par mon mari",
        "il me tape quand il a bu",
        "mon beau-père va me taper si je rentre",
        "on m'a violée hier soir",
        "quelqu'un m'a obligée à coucher cette nuit",
        "il m'a forcée à faire l'amour ce matin",
        "j'ai subi un viol cette nuit",
        # sepsis
        "je frissonne de partout, le sein est rouge et chaud, je suis un peu confuse",
        "mon sein brûle, je tremble comme une feuille et je raconte n'importe quoi",
        "je claque des dents et je suis toute confuse",
        "frissons, sein dur et rouge, je suis dans le brouillard",
        # crushed
        "un camion m'a écrasé le pied",
        "mon mari a la jambe écrasée sous le tracteur",
    ],
    "chest-pain": ["j'ai mal au chest, j'ai chaud pis froid", "une grosse pierre sur le thorax"],
    "breathing": ["j'ai de la misère à respirer", "essoufflée même en parlant", "mon ventolin ne fait rien"],
    "collapse": [
        # low sugar
        "mon père est diabétique, il transpire et raconte n'importe quoi",
        "ma glycémie est à 2,3 et je tremble",
        "diabétique, tout est flou et je suis en sueur",
        "hypoglycémie, je transpire et je vois trouble",
        # does not come to
        "moi tête tourne, moi tomber, plus voir",
        "il ne revient pas à lui",
        "mamie revient plus à elle",
        "ma soeur n'est pas revenue à elle",
    ],
    "suicide": [
        "les somnifères sont devant moi",
        "j'ai tous mes comprimés devant moi",
        "j'ai sorti les boîtes de médicaments, elles sont sur la table devant moi",
        "j'ai la plaquette dans la main et je vais tout prendre",
    ],
}
CALM = [
    # a handicap
    "je ne peux pas lever le bras droit",
    "je ne peux pas bien lever les bras",
    "depuis mon opération de l'épaule je ne peux pas lever le bras",
    "Puis-je venir si je suis en fauteuil roulant ou si je ne peux pas lever le bras ?",
    "ma main droite est paralysée de naissance",
    "j'ai une hémiplégie depuis mon enfance",
    "je suis hémiplégique depuis 2012",
    "accident de moto en 2016, je ne lève plus bien le bras gauche",
    # sayings and things told
    "j'ai eu le souffle coupé en voyant la facture",
    "vos tarifs me coupent le souffle",
    "on peut arrêter l'appareil si j'étouffe ?",
    "y a-t-il une sonnette si j'étouffe dans la cabine ?",
    "le café est une urgence absolue ici",
    "mon mari me bat au tennis",
    "mon frère me bat toujours aux échecs",
    "j'ai fait une overdose de séries",
    "une overdose de fondue, ma fille",
    "j'ai vu une série où un homme faisait un infarctus",
    "j'ai une angine de poitrine bien traitée",
    "mon angine de poitrine est stable sous traitement",
    "je vais me tuer au travail",
    "je me tue à la tâche",
    "elle ne dormait plus, moi je ne veux pas vivre ça, quand vient la lettre ?",
    "il m'arrive de tomber dans les pommes",
    "quand j'ai peur je tombe dans les pommes",
    "j'ai peur et je tombe dans les pommes aux piqûres",
    "j'ai mes médicaments devant moi, lesquels dois-je noter ?",
    "mes comprimés sont devant moi, c'est du Xarelto 20",
    "j'ai été violée à 17 ans",
    "je me suis coincé le doigt dans la porte l'an passé",
    "on est coincé combien de temps dans la machine ?",
    "j'ai peur d'être coincée dans la machine",
    "la mammographie me serre trop, c'est normal ?",
    "mon fils tape sur son ordinateur",
    "il me tape sur les nerfs",
    "mon mari est diabétique, peut-il m'accompagner ?",
    "je suis diabétique, ma glycémie est à 6,2",
    "mon voisin raconte n'importe quoi",
    "j'ai chaud et froid en pensant à l'examen",
    "je ne suis pas revenue à la radiologie",
    "la facture revient à combien ?",
    "ma mère est battante, elle guérira",
]


@pytest.fixture(scope="module")
def rules() -> Iterator[RedFlags]:
    open_languages(None, ["fr"])
    yield load_red_flags("fr")
    forget()


def test_what_cannot_wait_is_heard(rules: RedFlags) -> None:
    wrong = {text: rules.check(text) for flag, texts in URGENT.items() for text in texts if rules.check(text) != flag}

    assert wrong == {}


def test_what_only_sounds_alike_is_none(rules: RedFlags) -> None:
    assert {text: rules.check(text) for text in CALM if rules.check(text)} == {}
