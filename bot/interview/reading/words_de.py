"""German, with Swiss and Austrian habits and dialect spelling: data only.

Umlauts, ß and their replacements ("ae", "ss") need not be listed twice: words are folded before they are compared.
"""

from __future__ import annotations

from dataclasses import replace

from bot.interview.reading.compile_words import Compiler
from bot.interview.reading.dates_de import DATES
from bot.interview.reading.manners_de import AGREEMENT, COMMANDS, FRAMES, SILENCE, with_not
from bot.interview.reading.tokens import fold_german
from bot.interview.reading.vocabulary import Around, ChoiceWords, NumberWords, TimeWords, Wordings, Words

_DE = Compiler(fold_german)
_words, _phrases = _DE.words, _DE.phrases

AROUND = Around(
    harmless=_words(
        """
        ich i bin war habe hab hatte ist isch sind waren wiege wäge gross groß schwer alt es das der die den dem
        des ein mein meine meinem geboren geb geburtstag geburtsdatum datum gewicht grösse sein am
        im in an um seit zum zur mal mol fach x stück stk davon ja jo genau also dann und so bitte danke
        insgesamt total jeweils halt wohl beim bei nur schon mals nr nummer de dr s d en e a
        auf hat wurde gewesen gmacht gmessen natürlich antwort lautet zirka haben ga gsi wars
        gwesen
        """
    ),
    approximate=_phrases(
        """
        etwa, ungefähr, ungf, ca, circa, cirka, zirka, rund, um die, in etwa, so um, so circa, so etwa,
        so ungefähr, so ca, öppe, öpe, schätzungsweise, geschätzt, knapp, gut, fast, bald, annähernd, grob,
        plus minus, oder so, gegen, kurz, circa um, eppa, beinahe, über den daumen, irgendwann, irgendwo, herum,
        rum, um den dreh
        """
    ),
    hedges=_phrases(
        """
        glaube, glaub, glaub ich, glaube ich, ich glaube, ich glaub, denke, denk ich, denke ich, ich denke, vielleicht,
        wahrscheinlich, vermutlich, müsste, müsste sein, könnte, könnte sein, kann sein,
        wenn ich mich recht erinnere, soviel ich weiss, so viel ich weiss, so weit ich weiss, soweit ich weiss,
        meine ich, ich meine, schätze, schätze ich, ich schätze, möglicherweise, eventuell, evtl, mein i,
        dürfte, dürfte sein, sollte, womöglich, keine ahnung,
        """
        + with_not(
            """
            weiss es ~, ich weiss es ~,
            ~ sicher, bin mir ~ sicher, aber ich bin mir ~ sicher, weiss ~, weiss ~ genau, weiss ~ mehr genau,
            weiss es ~ genau, weiss ~ mehr, weiss ich ~, weiss ich ~ mehr, weiss ich ~ genau,
            weiss es ~ mehr genau, ~ genau
            """
        )
    ),
    limits=_phrases(
        """
        mehr als, über, überm, mindestens, mind, wenigstens, weniger als, unter, höchstens, maximal, max,
        bis zu, minimal, min, grösser als, kleiner als, älter als, jünger als, mehr, weniger, plus,
        nicht mehr als, nicht über, oder mehr, oder weniger, aufwärts
        """
    ),
    date_limits=_words("vor nach bis spätestens frühestens vorm"),
    vague=_phrases(
        """
        ein paar, paar, einigen, mehreren, vielen, wenigen, etlichen, a paar, es paar, einige, mehrere, viele,
        vieli, wenige, etliche, verschiedene, manche, unzählige, mehrmals, oft, öfters, öfter, häufig, selten,
        viel, ein paar mal, zig, vü, zahlreiche, wenig
        """
    ),
    to=_words("bis - biz"),
    either=_words("oder bzw beziehungsweise resp respektive odr"),
    between=_words("zwischen zwüsche zwischn"),
    joins=_words("und u sowie plus dann danach , ; / + & . und/oder unn"),
    scales=_words("million millionen mio milliarde milliarden mrd dutzend tausend hundert tsd k hunderte tausende"),
)

_SMALL = """
    null nullmal zero, eins einmal eimal oans ei einer oamal eini, zwei zwo zwoi zwöi zwee zwoa zweimal,
    drei drü dreimal drüü drüümal, vier vieri vierimal viermal fier, fünf füf foif fünfmal füfi,
    sechs sächs sechsmal sächsi, sieben sibe siebenmal sibni siebn sibä, acht achti achtmal,
    neun nün neunmal nüni noin, zehn zäh zehnmal zähni zän, elf elfmal elfi ölf, zwölf zwölfmal zwölfi zwöuf,
    dreizehn drizäh, vierzehn vierzäh, fünfzehn füfzäh fuffzehn, sechzehn sechszehn sächzäh,
    siebzehn siebenzehn sibzäh, achtzehn achtzäh, neunzehn nünzäh, zwanzig zwänzg zwanzg zwanzich
    """
_TENS = {
    "dreissig dreißig drissg dreissg": 30,
    "vierzig vierzg vierzich": 40,
    "fünfzig füfzg fuffzig fuchzg": 50,
    "sechzig sechszig sächzg sechzg": 60,
    "siebzig siebenzig sibezg siebzg": 70,
    "achtzig achtzg": 80,
    "neunzig nünzg neunzg": 90,
    "ein": 1,
}
_STEMS = """
    erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft dreizehnt vierzehnt fünfzehnt
    sechzehnt siebzehnt achtzehnt neunzehnt zwanzigst einundzwanzigst zweiundzwanzigst dreiundzwanzigst
    vierundzwanzigst fünfundzwanzigst sechsundzwanzigst siebenundzwanzigst achtundzwanzigst neunundzwanzigst
    dreissigst einunddreissigst
"""

NUMBERS = NumberWords(
    pads=_words("mit da damals alter"),
    age=_words("alt alter lebensalter"),
    age_past=_words("war waren warst wurde wurden wart"),
    birth=_words("jahrgang jg geboren geb geburtsjahr geburtsdatum geburtstag baujahr born"),
    becoming=_phrases("werde, werd, wird, werden, wer, gehe auf die, geh auf die, auf die"),
    nearing=_phrases("bald, fast, demnächst, nächste, nächsten, nächstes, dann, beinahe, knapp, kurz vor"),
    small=_DE.counted(_SMALL) | _DE.table(_TENS),
    articles=_words("ein eine einen einem einer eines a an ne nen nem ner em e en"),
    hundred=_words("hundert hundat"),
    thousand=_words("tausend tuusig tausnd tusig"),
    joiners=_words("und"),
    units_first=True,
    halves=_DE.halves({"anderthalb": "1.5", "eineinhalb": "1.5", "einundeinhalb": "1.5", "anderthalbe": "1.5"}),
    half_suffix="einhalb",
    and_a_half=_phrases("und ein halb, und ein halbes, und eine halbe, und ein halber, einhalb, und einen halben"),
    none=_words("kein keine keinen keiner keines keins keinem keinmal nie niemals nix"),
    ordinals=_DE.table(
        {" ".join(stem + end for end in ("e", "en", "er", "es", "ens")): n for n, stem in enumerate(_STEMS.split(), 1)}
        | {"siebente siebenten siebenter": 7, "ersts erschte erschten": 1, "zwoite zwote": 2, "dritti": 3}
    ),
    ordinal_ends=_words("te ten ter tes ste sten ster"),
    minus=_words("minus"),
    decimal_mark=",",
    group_mark=".",
    point=_words("komma punkt"),
)

TIMES = TimeWords(
    at=_words("um gegen"),
    hour=_words("uhr h ur uar"),
    minute=_words("minute minuten min"),
    half=_words("halb halbi hoib halba"),
    half_before=True,
    quarter=_words("viertel viertl viertu"),
    three_quarters=_words("dreiviertel dreiviertl"),
    past=_words("nach ab über no noch"),
    to=_words("vor vur"),
    named=_DE.table({"mittag mittags zmittag": 12, "mitternacht": 0}),
    halves_of_day={},
    parts_of_day=_DE.table(
        {
            "morgens morgen früh fria morge": (0, 11),
            "vormittags vormittag": (5, 12),
            "mittags mittag": (11, 14),
            "nachmittags nachmittag namittag": (12, 18),
            "abends abend obig": (17, 23),
            "nachts nacht": (21, 5),
        }
    ),
    twelve_hours=False,
)

CHOICES = ChoiceWords(
    number_pads=_words(
        """
        nr nummer nummero option antwort punkt möglichkeit die der das den ziffer zahl variante ich nehme wähle
        a auswahl bitte es ist isch stelle auch
        """
    ),
    last=_words("letzte letzten letzter letztes letschte"),
    none=_phrases(
        """
        keine bekannt, nichts bekannt, keine bekannten,
        keine, keins, keines, keiner, kein, keine davon, keins davon, keines davon, keiner davon,
        keine der genannten, keines der genannten, keine von diesen, keins von diesen, keine von denen,
        keins von denen, keins von beiden, keine von beiden, keine von allen, nichts, nichts davon, nix,
        nix davon, nichts von alledem, nichts der gleichen, gar keine, gar nichts, gar keins, nein, nei, nö,
        nee, nein nichts, nein keine, nein keins, nichts von dem, trifft nichts zu, trifft nicht zu,
        keine trifft zu, nüt, nein nichts davon, nein keine davon, nein keins davon
        """
    ),
    all=_phrases(
        """
        alle, alles, alle davon, alles davon, allesamt, sämtliche, alle genannten, trifft alles zu, beide, beides,
        das volle programm, volles programm, das ganze programm, alles mögliche, alles zusammen
        """
    ),
    articles=_words("der die das den dem des ein eine einen einem einer eines de dr s d am im an in zum zur"),
    negating=_words("un nicht non anti kein in"),
    endings=("es", "en", "er", "em", "e", "s", "n"),
    numbers=replace(
        NUMBERS,
        small={
            word: value
            for word, value in NUMBERS.small.items()
            if not word.endswith("mal") and word not in _words("eini vieri füfi sechsi achti nüni zähni zwölfi")
        },
    ),
    weak=_words(
        """
        ich i du er wir sie mir mich mein meine meinen meiner uns man es das dies da hier so sehr auch nur noch schon
        mal eben halt doch aber und oder mit von bei auf an am im in zu zum zur für um wegen vor nach als wie wenn dass
        ist sind bin war waren sein wird werden habe hab haben hatte hatten gehabt kann können konnte muss soll will
        möchte darf mag würde nehme nehmen nimm genommen mache mach machen gemacht tue tut bekomme kriege brauche
        brauch trage benutze verwende sehe seh sehen höre hör hören fühle fühl spüre merke gehe geh gehen komme komm
        kommen lebe wohne kenne weiss weiß wissen denke finde esse trinke schlafe davon dazu dabei damit darauf etwas
        jemand jemanden ja jo nein gar ganz recht eher ziemlich total echt bisschen bissl wirklich sogar leider
        """
    ),
    judging=_words(
        """
        gut gute gutes besser schlecht schlechte schlechtes schlechter wenig weniger viel mehr kaum schwer leicht lange
        lang kurz oft selten manchmal nie immer stark schwach hoch hohe niedrig normal abnormal auffällig unauffällig
        positiv negativ früher zu falsch richtig teilweise
        """
    ),
    without=_words("ohne"),
    excepting=_phrases(
        """
        ausser, bis auf, mit ausnahme, ausgenommen, abgesehen von, alles andere als, nur nicht, nur kein, nur keine,
        bloss nicht
        """
    ),
    enough=_phrases(
        """
        sonst nichts, sonst keine, sonst keins, sonst nix, sonst gar nichts, mehr nicht, weiter nichts,
        weiter keine, nichts weiter, nichts anderes, nichts sonst, nichts mehr, keine weiteren, keine anderen,
        mehr weiss ich nicht, mehr fällt mir nicht ein
        """
    ),
    roughly=_phrases("etwa, ungefähr, circa, ca, zirka, öppe, in etwa, so etwa, oder so, irgendwie, mehr oder weniger"),
)

UNITS = _DE.units(
    {
        "kg": "kg, kilo, kilos, kilogramm, kilogram, chilo, kilogramms",
        "g": "g, gramm, gr, gram, gramms",
        "{Pfund}": "pfund",
        "mg": "mg, milligramm, milligram",
        "ug": "µg, ug, mcg, mikrogramm",
        "m": "m, meter, metern, mtr",
        "cm": "cm, zentimeter, centimeter, zentimetern",
        "mm": "mm, millimeter",
        "km": "km, kilometer",
        "L": "l, liter, litern",
        "dL": "dl, deziliter",
        "cL": "cl, zentiliter",
        "mL": "ml, milliliter",
        "a": "jahr, jahre, jahren, j, jahre alt, jährig, johr, jahr alt, jährige",
        "mo": "monat, monate, monaten, mt, mte, mon, monet, mo",
        "wk": "woche, wochen, wo, wuche, wk",
        "d": "tag, tage, tagen, tg, d",
        "h": "stunde, stunden, std, h, stund, stund",
        "min": "minute, minuten, min",
        "s": "sekunde, sekunden, sek, s",
        "%": "%, prozent, pct",
        "Cel": "°c, grad, grad celsius, °, celsius, c",
        "mm[Hg]": "mmhg, mm hg, millimeter quecksilber",
        "/min": "bpm, /min, pro minute, schläge pro minute, schläge, 1/min, mal pro minute",
        "/d": "/d, /tag, pro tag, am tag, täglich, mal pro tag, mal am tag, mal täglich",
        "/wk": "/woche, pro woche, mal pro woche, in der woche, mal in der woche, wöchentlich",
        "/mo": "/monat, pro monat, mal pro monat, im monat, mal im monat",
        "/a": "/jahr, pro jahr, mal pro jahr, im jahr, mal im jahr",
        "mg/dL": "mg/dl",
        "mmol/L": "mmol/l, mmol",
        "umol/L": "µmol/l, umol/l",
        "mg/d": "mg/d, mg/tag, mg pro tag, mg am tag, mg täglich",
        "mL/min": "ml/min",
        "kg/m2": "kg/m2",
        "[IU]": "ie, iu, i.e.",
        "[lb_av]": "lb, lbs, pounds, pound",
        "[oz_av]": "unze, unzen, oz",
        "[stone_av]": "stone, stones",
        "[ft_i]": "fuss, ft, feet, '",
        "[in_i]": 'zoll, inch, inches, ",\'\'',
        "[degF]": "°f, fahrenheit, grad fahrenheit, f",
    },
    {
        "a": "Jahre", "mo": "Monate", "wk": "Wochen", "d": "Tage", "h": "Stunden", "min": "Minuten", "s": "Sekunden",
        "Cel": "°C", "mm[Hg]": "mmHg", "/min": "/min", "/d": "pro Tag", "/wk": "pro Woche", "/mo": "pro Monat",
        "/a": "pro Jahr", "[IU]": "IE", "[lb_av]": "lb", "[ft_i]": "ft", "[in_i]": "Zoll", "ug": "µg", "umol/L": """
        µmol/L
        """,
        "mg/d": "mg/Tag", "kg/m2": "kg/m2", "[degF]": "°F", "[stone_av]": "Stone", "[oz_av]": "oz",
    },
    opens="in, wie viele, wieviele, wie viel, angabe in, anzahl, zahl der, anzahl der",
    over="zu über auf",
    measured={
        "height": """
        körpergrösse, wie gross sind sie, wie gross bist du, wie gross sie sind, ihre grösse, grösse, aktuelle grösse
        """,
        "weight": """
        körpergewicht, wie schwer sind sie, wie viel wiegen sie, wieviel wiegen sie, was wiegen sie, ihr gewicht,
        gewicht, aktuelles gewicht, jetziges gewicht, derzeitiges gewicht
        """,
        "age": "wie alt, alter, lebensalter, ihr alter",
        "temperature": "körpertemperatur, fieber, temperatur",
        "systolic": "systolisch, systolischer, systolische, systolischen, oberer, obere, oberen, oberer wert",
        "diastolic": "diastolisch, diastolischer, diastolische, diastolischen, unterer, untere, unteren",
        "pressure": "blutdruck, blutdruckwert, blutdruckwerte, blutdrucks",
        "pulse": "puls, pulsschlag, herzfrequenz, ruhepuls",
        "bmi": "bmi, body mass index",
    },
)  # fmt: skip

WORDINGS = Wordings(
    yes="ja",
    no="nein",
    date="{day}. {month} {year}",
    month="{month} {year}",
    time="{time} Uhr",
    moment="{date}, {time} Uhr",
)

WORDS = Words(
    fold_german, AGREEMENT, SILENCE, AROUND, NUMBERS, DATES, TIMES, CHOICES, UNITS, COMMANDS, WORDINGS, FRAMES
)
