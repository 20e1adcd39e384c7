"""Plain words for the same thing, in both languages: what a patient may say for what a list calls otherwise. Data.

They propose an option and never decide: what they find is read back.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.interview.reading.tokens import fold_german, fold_plain

# One line for each thing. A word may stand in one line only.
_SAME = """
    mann männlich männlicher männer herr male man masculine gentleman
    frau weiblich weibliche weiblicher frauen dame female woman feminine lady
    divers nichtbinär nonbinary
    links linke linken linker linkes linksseitig left
    rechts rechte rechten rechter rechtes rechtsseitig right
    beide beiden beider beides beidseits beidseitig both bilateral
    brust brüste busen breast breasts
    seite seiten side sides
    oben obere upper top
    unten untere lower bottom
    vorne front
    hinten hintere
    arm arme arms
    bein beine leg legs
    knie knee knees
    fuss füsse foot feet
    hand hände hands
    schulter schultern shoulder shoulders
    hüfte hüften hip hips
    kopf head
    hals nacken neck
    rücken
    bauch unterleib belly tummy abdomen
    herz heart
    lunge lungen lung lungs
    leber liver
    niere nieren kidney kidneys
    magen stomach
    haut skin
    auge augen eye eyes
    ohr ohren ear ears
    zahn zähne tooth teeth
    knochen bone bones
    blut blood
    schmerz schmerzen weh aua pain pains ache
    knoten knubbel verhärtung lump lumps
    fieber fever
    husten cough
    atemnot luftnot breathless breathlessness
    schwindel schwindelig dizziness dizzy
    übelkeit übel nausea
    juckreiz jucken itch itching itchy
    ausschlag rash
    schwellung geschwollen swelling swollen
    angst ängstlich fear afraid scared anxious
    krebs karzinom cancer carcinoma
    allergie allergien allergy allergies allergic
    diabetes zucker zuckerkrankheit zuckerkrank
    bluthochdruck hypertonie hypertension
    herzschrittmacher schrittmacher pacemaker
    schwanger pregnant
    rollstuhl wheelchair
    mutter mama mami mutti mother mum mom mummy
    vater papa papi father dad daddy
    schwester schwestern sister sisters
    bruder brüder brother brothers
    tochter töchter daughter daughters
    sohn söhne son sons
    tante tanten aunt auntie aunts
    onkel uncle
    grossmutter oma omi grandmother grandma granny nan
    grossvater opa opi grandfather grandpa grandad
    ledig single unmarried alleinstehend
    verheiratet married
    geschieden divorced
    verwitwet witwe witwer widowed widow widower
    deutsch german
    englisch english
    französisch french
    italienisch italian
    spanisch spanish
    türkisch turkish
    nie niemals never
    immer ständig always
    oft häufig öfter öfters often frequently
    manchmal gelegentlich sometimes occasionally
    selten rarely seldom
    täglich daily
    wöchentlich weekly
    monatlich monthly
    gut good fine
    schlecht bad badly poor poorly
    stark starke heftig heftige severe
    mässig moderate
    leicht leichte mild slight
    gelb yellow
    rot red
    grün green
    blau blue
    schwarz black
    weisse white
    morgens vormittags
    abends
    privat private
    hausarzt hausärztin gp
    raucher raucherin smoker
    nichtraucher nichtraucherin nonsmoker
    operation operiert op surgery
"""


def _table(listed: str) -> Mapping[str, int]:
    """Return the line of each word, as both languages fold it."""
    found: dict[str, int] = {}
    for number, line in enumerate(listed.strip().splitlines()):
        for word in line.split():
            for folded in (fold_german(word), fold_plain(word)):
                found.setdefault(folded, number)
    return found


_LINE = _table(_SAME)


_RELATIVES = (
    "mutter",
    "vater",
    "schwester",
    "bruder",
    "tochter",
    "sohn",
    "tante",
    "onkel",
    "grossmutter",
    "grossvater",
)


def is_relative(word: str) -> bool:
    """Tell whether a folded word is what a relative is called."""
    return any(word == name or alike(word, name) for name in _RELATIVES)


def alike(one: str, other: str) -> bool:
    """Tell whether two folded words are plain words for the same thing."""
    line = _LINE.get(one)
    return line is not None and line == _LINE.get(other)
