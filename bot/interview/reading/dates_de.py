"""Dates in German: data only."""

from __future__ import annotations

from bot.interview.reading.compile_words import Compiler
from bot.interview.reading.tokens import fold_german
from bot.interview.reading.vocabulary import DateWords, Feast

_DE = Compiler(fold_german)
_words, _phrases = _DE.words, _DE.phrases

_MONTHS = {
    "januar jänner jan jän jänna jaenner": 1,
    "februar feber feb febr": 2,
    "märz mär mrz mar merz": 3,
    "april apr aprü": 4,
    "mai mei": 5,
    "juni jun juno": 6,
    "juli jul julei": 7,
    "august aug auguscht": 8,
    "september sep sept septämber": 9,
    "oktober okt oct": 10,
    "november nov novämber": 11,
    "dezember dez dec dezämber": 12,
}

DATES = DateWords(
    months=_DE.table(_MONTHS),
    correctable=_DE.counted(
        "januar jänner, februar feber, märz, april, mai, juni, juli, august, september, oktober, november, dezember",
        start=1,
    ),
    weekdays=_DE.counted(
        """
        montag mäntig mondog, dienstag ziischtig, mittwoch mittwuch, donnerstag donnschtig,
        freitag friitig, samstag sonnabend samschtig, sonntag sunntig
        """
    ),
    seasons=_DE.table({"frühling frühjahr frühlig frühjahrs": 5, "sommer summer": 8, "herbst herbscht": 11}),
    winters=_words("winter"),
    feasts=_DE.feasts(
        {
            "ostern, oster, osterzeit, osterferien, oschtern": Feast(0, 0),
            "ostersonntag": Feast(0, 0, single=True),
            "ostermontag": Feast(0, 1, single=True),
            "karfreitag": Feast(0, -2, single=True),
            "gründonnerstag": Feast(0, -3, single=True),
            "palmsonntag": Feast(0, -7, single=True),
            "aschermittwoch": Feast(0, -46, single=True),
            "rosenmontag": Feast(0, -48, single=True),
            "fasching, fasnacht, fastnacht, karneval": Feast(0, -48),
            "himmelfahrt, christi himmelfahrt, vatertag, auffahrt": Feast(0, 39, single=True),
            "pfingsten, pfingschten, pfingstferien": Feast(0, 49),
            "pfingstsonntag": Feast(0, 49, single=True),
            "pfingstmontag": Feast(0, 50, single=True),
            "fronleichnam": Feast(0, 60, single=True),
            "weihnachten, weihnacht, wiehnachte, weihnachtszeit, weihnachtsferien, advent, adventszeit": Feast(12, 25),
            "heiligabend, heilig abend, heiliger abend": Feast(12, 24, single=True),
            "nikolaus": Feast(12, 6, single=True),
            "silvester, sylvester": Feast(12, 31, single=True),
            "neujahr": Feast(1, 1, single=True),
            "dreikönig, heilige drei könige": Feast(1, 6, single=True),
            "allerheiligen": Feast(11, 1, single=True),
            "mariä himmelfahrt": Feast(8, 15, single=True),
        }
    ),
    decades=_words(
        """
        zwanziger zwanzigern dreissiger dreissigern vierziger vierzigern fünfziger fünfzigern sechziger sechzigern
        siebziger siebzigern achtziger achtzigern neunziger neunzigern zweitausender zweitausendern
        neunzigerjahre neunzigerjahren achtzigerjahre achtzigerjahren siebzigerjahre siebzigerjahren
        """
    ),
    couple=_phrases(""),
    days=_DE.table(
        {"heute heut hüt heit heid": 0, "gestern gester geschter gestan": -1, "vorgestern vorgester": -2}
        | {"morgen": 1, "übermorgen": 2}
    ),
    this_year=_words("heuer hür"),
    spans=_DE.table(
        {
            "tag tage tagen tg tagn däg": "d",
            "woche wochen wuche wo wochn wch": "wk",
            "monat monate monaten monats monet monete mt mte mon": "mo",
            "jahr jahre jahren jahres j jahrn johr johre joahr": "a",
        }
    ),
    half_year=_words("halbjahr halbjahren halbjahre"),
    half=_words("halb halbe halben halbes halber"),
    since=_words("seit"),
    ago_before=_words("vor seit vur"),
    ago_after=_words("her zurück"),
    last=_words(
        """
        letzte letzten letzter letztes letztem letscht letschte letschti vergangene vergangenen vergangenes
        vorige vorigen voriges
        """
    ),
    before_last=_words("vorletzte vorletzten vorletzter vorletztes"),
    this=_words("diese diesen dieser dieses diesem laufende laufenden am"),
    next=_words("nächste nächsten nächster nächstes kommende kommenden kommendes"),
    ahead=_words("in im"),
    of=_words("des vom"),
    month_first=False,
    decade_ends=_words("er ern ers"),
    the=_words("des der dieses diesen vom"),
    parts=_words("anfang mitte ende anfangs beginn"),
    part_months=_DE.table({"mitte": 6, "ende": 10}),
    year_parts=_DE.table({"jahresanfang jahresbeginn jahreswechsel": 1, "jahresmitte": 6, "jahresende": 10}),
    year_pads=_words(
        """
        jahr jahrs jahres jahre jahrgang monat monats anno im in seit jg geboren war das ich bin es
        mo di mi do fr sa so
        """
    ),
    month_names=(
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ),
)
