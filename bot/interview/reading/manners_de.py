"""German ways to agree, to decline, not to know, to wrap up what one says, and to steer the interview: data only."""

from __future__ import annotations

from bot.interview.reading.compile_words import Compiler
from bot.interview.reading.tokens import fold_german
from bot.interview.reading.vocabulary import Agreement, CommandWords, Frames, Silence

_DE = Compiler(fold_german)
_words, _phrases = _DE.words, _DE.phrases

_NOT = ("nicht", "ned", "net", "nöd", "nid", "niad", "nüd")


def with_not(phrases: str) -> str:
    """Return phrases in which ~ stands for "nicht", once in each dialect."""
    return ",".join(phrases.replace("~", word) for word in _NOT)


_OPENERS = _words(
    """
    ach oh äh ähm ehm öhm hmm hm also aber nun und dann das es des danke merci bitte so ah zum glück gott sei
    dank gottseidank leider aha uff mhm
    """
)

AGREEMENT = Agreement(
    yes=_phrases(
        """
        ja, jo, joa, jop, jep, jepp, jup, jupp, jap, jawohl, jawoll, jawoi, jä, joo, j, yes, yep, yeah, ok,
        okay, oki, klar, na klar, ja klar, aber klar, genau, stimmt, stimmt so, richtig, ist richtig, korrekt,
        natürlich, freilich, selbstverständlich, sicher, sicha, na sicher, na freilich, gern, gerne, sehr gern,
        sehr gerne, einverstanden, bin einverstanden, ich bin einverstanden, damit bin ich einverstanden,
        bin damit einverstanden, in ordnung, ist in ordnung, passt, passt so, eh klar, logisch, auf jeden fall,
        jedenfalls, definitiv, absolut, trifft zu, zutreffend, bestätige ich, so ist es, wahr, sowieso, na gut,
        von mir aus, ja bitte, ja gern, ja gerne, ja doch, ja genau
        """
    ),
    no=_phrases(
        with_not(
            """
            stimmt ~, ~ richtig, ist ~ richtig, isch ~ richtig, ~ korrekt, stimmt so ~, trifft ~ zu, ~ zutreffend,
            überhaupt ~, gar ~, ~ einverstanden, bin ~ einverstanden, ich bin ~ einverstanden, sicher ~, bestimmt ~,
            definitiv ~, passt ~, natürlich ~, freilich ~, selbstverständlich ~, klar ~, aber ~ doch, ~ natürlich,
            na klar ~, sicherlich ~, gewiss ~, absolut ~, ganz sicher ~, garantiert ~, auf jeden fall ~, eh ~,
            ganz bestimmt ~, ganz und gar ~, logisch ~, natürlich auch ~, auch ~, garantiert ~
            """
        )
        + """,
        nein, nö, nee, ne, nei, nää, naa, neh, nope, nop, no, n, falsch, ist falsch, isch falsch, nein danke,
        auf keinen fall, auf gar keinen fall, keinesfalls, keineswegs, mitnichten, nix da, unwahr,
        na sicher nicht
        """
    ),
    plain_yes=_words("ja jo joa jep jepp jup jupp jap jawohl jawoll jä j yes yep yeah"),
    plain_no=_words("nein nö nee nei nää nope n no"),
    negators=_phrases(
        """
        kein, keine, keinen, keiner, keines, keinem, keins, ka, kan, koa, koan, koane, kei, keni, nicht, ned,
        net, nöd, nid, niad, nüd, nie, nia, niemals, noch nie, noch niemals, no nie, no nia, noch gar nie,
        nimmer, nichts, nix, nüt, weder, gar keine, gar kein, überhaupt keine, niemand, niemanden, keinesfalls,
        keineswegs, mitnichten, nirgends, nirgendwo
        """
    ),
    maybe_yes=_phrases(
        """
        doch, schon, ja schon, doch schon, dürfen sie, das dürfen sie, wenn es sein muss, habe ich, hab ich,
        hatte ich, hatte ich schon, habe ich schon, bin ich, war ich, war ich schon, mache ich, nehme ich,
        eher ja, eigentlich ja, eigentlich schon, tendenziell ja, denk schon, meistens, wahrscheinlich,
        vermutlich, höchstwahrscheinlich, 👍
        """
    ),
    maybe_no=_phrases(
        with_not(
            """
            eigentlich ~, ~ wirklich, ~ so richtig, ~ dass ich wüsste, ~ das ich wüsste, ~ dass ich weiss,
            ~ das ich weiss, ~ dass ich wüßte, eher ~, habe ich ~, hab ich ~, hatte ich ~, bin ich ~, war ich ~,
            mache ich ~, nehme ich ~, ~ mehr, bisher ~, bis jetzt ~, noch ~, no ~, wüsste ~, ~ bewusst,
            momentan ~, derzeit ~, zurzeit ~, zur zeit ~, aktuell ~, im moment ~, wahrscheinlich ~,
            vermutlich ~, wohl ~, mir ~ bekannt, ~ bekannt, wohl eher ~, lange ~ mehr, schon lange ~ mehr,
            längst ~ mehr, seit langem ~ mehr, schon ewig ~ mehr, im traum ~, im leben ~, lieber ~
            """
        )
        + """,
        na, eher nein, eigentlich nein, kaum, 👎, weder noch, weder das eine noch das andere, gott bewahre,
        hatte ich noch nie, hatte ich nie, habe ich noch nie, hab ich noch nie, hab ich nie, habe ich nie,
        habe ich noch nie gehabt, hab ich noch nie gehabt, habe ich nie gehabt, hab ich nie gehabt, hatte noch nie,
        noch nie gehabt, nie gehabt, war ich noch nie, bin ich noch nie gewesen, noch nie gewesen, noch nie gemacht,
        nie gemacht, noch nie eins, noch nie eine, noch nie einen, nichts dergleichen
        """
    ),
    unclear=_phrases(
        """
        jein, vielleicht, vielleicht schon, na ja, naja, nja, teils teils, teils, teilweise, manchmal,
        ab und zu, hin und wieder, ab und an, selten, gelegentlich, hie und da, kommt darauf an, kommt drauf an,
        kommt drauf a, möglich, möglicherweise, kann sein, könnte sein, mal so mal so, eventuell, evtl,
        mehr oder weniger,
        ein bisschen, bisschen, a bissl, es bitzeli, geht so, jo eh, früher, früher ja, ja früher, früher schon,
        schon früher, früher mal, früher einmal, ja früher mal, ja früher schon, früher schon mal, damals ja, ja damals,
        damals schon, einst, kein problem, keine probleme damit, kein ding, keine einwände, nichts dagegen, nichts
        dagegen einzuwenden, habe nichts dagegen, hab nichts dagegen, warum nicht, wieso nicht, von wegen, noch nicht
        sicher,
        """
        + with_not(
            "~ immer, ~ jedes jahr, ~ jedes mal, ~ regelmässig, ~ unbedingt, ~ ganz, ~ so ganz, ~ nur, ~ oft, ~ direkt"
        )
    ),
    but=_words("aber nur jedoch allerdings bloss ausser"),
    openers=_OPENERS,
    first_person=_words("ich i ii hab habe hob bin war"),
    exclamations=_phrases(
        """
        um gottes willen, um himmels willen, um gotteswillen, um himmelswillen, gott, gott oh gott, du lieber gott,
        mein gott, du liebe zeit, du meine güte, herrje, herrgott, jesses, jessas, toi toi toi, unberufen,
        klopf auf holz, auf holz geklopft, gott lob, dem himmel sei dank, wo denken sie hin, i wo, ach woher
        """
    ),
    often=_phrases(
        """
        regelmässig, jährlich, jedes jahr, jeden monat, jedes mal, jedesmal, mehrmals, mehrfach, schon oft, schon öfter,
        schon öfters, schon mehrmals, schon mehrfach, öfter mal, etliche male, viele male, schon ein paar mal,
        ein paar mal, paarmal, immer wieder, immer mal wieder, ständig
        """
    ),
    always=_words("immer stets jedesmal schon"),
    attended=_words("gegangen hingegangen hin dort dabei gemacht mitgemacht teilgenommen wahrgenommen gehabt"),
    every=_words("alle aller jede jedes jeden"),
    times=_words("mal male x"),
    asks_leave=_phrases(
        """
        dürfen wir, darf ich, dürfte ich, dürften wir, stimmen sie zu, stimmen sie dem zu, erlauben sie,
        sind sie einverstanden, sind sie damit einverstanden, willigen sie ein, geben sie ihr einverständnis,
        geben sie ihre einwilligung, ist es für sie in ordnung, ist es ihnen recht
        """
    ),
    leave=_phrases(
        """
        na dann, na gut, na schön, na also, meinetwegen, von mir aus, mir egal, mir gleich, mir wurscht,
        mir wurst, mir wuascht, egal, einerlei,
        dürfen sie ruhig, dürft ihr ruhig, können sie ruhig, könnt ihr ruhig, kann man ruhig,
        dürfen sie, dürft ihr, darfst du, könnt ihr, können sie, kann man, dürfens, machen sie, machen sie nur,
        machen sie ruhig, macht ihr, macht nur, macht ruhig, machen sie mal, machens, tun sie das, tut das, tun sie,
        speichern sie, speichert ruhig, nur zu, immer zu, wenn es sein muss, wenns sein muss, muss ja,
        wenn sie wollen, wenn ihr wollt, wenn sie möchten, wenn sie meinen, wenn es hilft, wenns hilft, wie sie wollen,
        wie sie möchten, was auch immer, kein problem, keine probleme damit, kein ding, keine einwände,
        keinen einwand, nichts dagegen, nix dagegen, nichts dagegen einzuwenden, damit kein problem,
        kein problem damit, warum nicht, wieso nicht, warum auch nicht, wieso denn nicht, warum denn nicht, logo,
        geht klar, geht in ordnung, geht schon, soll mir recht sein, mir recht, ist recht, recht ist, alles gut,
        passt schon, meinen segen, habe nichts zu verbergen, hab nichts zu verbergen, nichts zu verbergen,
        dafür bin ich,
        deswegen bin ich, stört mich nicht, stört mich nichts, stört mich ned, macht mir nichts, macht mir nichts aus,
        ist mir lieb, ja mei, schnuppe, bin dabei, bitte darum, legen sie los, schiessen sie los, legt los, los gehts,
        läuft, keinen zwang, sonst wäre ich nicht hier, sonst wäre ich ja nicht hier, sonst wär ich nicht hier,
        sonst wär ich ja nicht hier, sehe kein problem, sehe da kein problem, sehe keinen grund dagegen,
        erlaube ich, erlaubt, genehmigt, gestattet, kein thema
        """
    ),
    no_leave=_phrases(
        with_not(
            """
            lieber ~, besser ~, ~ recht, ~ so recht, geht ~, kommt ~ in frage, ~ in frage, muss ~ sein,
            muss das ~ sein, ~ so gern, ~ so gerne, ~ gern, ~ gerne, dürfen sie ~, dürft ihr ~, ~ erlaubt, bloss ~,
            ~ mit mir, darf ~ sein, könnt ihr ~, können sie ~, machen sie ~, macht das ~, speichern sie ~,
            tun sie das ~, will ~, will ich ~, möchte ~, möchte ich ~, mag ~, mag ich ~, erlaube ich ~
            """
        )
        + """,
        ungern, nur ungern, kommt gar nicht in frage, etwas dagegen, was dagegen, finger weg, untersteht euch,
        dagegen, bin dagegen, lassen sie das, lasst das, lieber persönlich,
        lieber mündlich, lieber vor ort, lieber selbst, lieber im gespräch
        """
    ),
    meta=_words(
        """
        verstehe versteh verstehen verstanden kapiere kapier begreife weiss weiß wissen woass weis möchte mag
        will kann könnte darf soll muss sehe höre finde erinnere gewusst lesen antworten sagen glaube denke
        meine
        """
    ),
)

_PADDING = _words(
    """
    ich i das es des dies dazu da mir uns leider auch so genau mehr jetzt gar momentan gerade grad aber wirklich
    echt sorry ehrlich gesagt noch ganz eh halt schon bitte danke tut leid wohl auswendig eigentlich ja hm äh
    ähm ach oh also wia deshalb deswegen daher darum drum
    """
)

SILENCE = Silence(
    padding=_PADDING,
    dont_know=_phrases(
        with_not(
            """
            weiss ~, weis ~, woas ~, woass ~, waass ~, waas ~, weissi ~, weiß man ~, weiss man ~, wissen ~,
            wissen wir ~, ~ sicher, bin ~ sicher, erinnere mich ~, kann mich ~ erinnern, ~ erinnern,
            kann ~ sagen, könnte ~ sagen, ~ gewusst, bin überfragt, keine ahnung weiss ~, im moment weiss ~,
            weiss im moment ~, weiss ~ im moment
            """
        )
        + """,
        keine ahnung, kei ahnig, kei ahnung, ka ahnung, kan plan, koa ahnung, kein plan, keinen plan,
        keinen schimmer, keine idee, ka, ahnungslos, überfragt, vergessen, habe vergessen, hab vergessen, k a,
        unsicher, bin unsicher, kann man nicht wissen, wer weiss, müsste nachschauen, muss nachschauen,
        müsste nachsehen, müsste nachfragen, muss nachfragen, müsste fragen, müsste meine mutter fragen,
        kann ihnen keiner sagen, kann keiner sagen, weiß niemand, keinen blassen, keinen blassen schimmer, ?, ??, ???
        """,
        without=_PADDING,
    ),
    refused=_phrases(
        with_not(
            """
            möchte ~, möchte ~ sagen, will ~ sagen, mag ~ sagen, sage ~, möchte lieber ~, möchte lieber ~ sagen,
            will lieber ~ sagen, möchte ~ beantworten, will ~ beantworten, möchte lieber ~ beantworten, mag ~,
            möchte ~ antworten, will ~ antworten, lieber ~, will ~, möchte ~ angeben, will ~ angeben,
            beantworte ~, geht sie ~ an, möchte ~ darüber sprechen, will ~ darüber reden,
            möchte darüber ~ sprechen, möchte dazu ~ sagen, ~ ihre sache, geht ~ an
            """
        )
        + """,
        keine antwort, kein kommentar, privat, privatsache, ist privat, ist privatsache, ist meine sache,
        geht sie nichts an, geht euch nichts an, geht dich nichts an, geht niemanden an, geht niemanden was an,
        geht sie nix an, keine angabe, keine angaben, möchte keine angabe machen, mache keine angaben,
        mache keine angabe, zu persönlich, ist zu persönlich, ist mir zu persönlich, verweigere, ungern,
        möchte nichts sagen, sage nichts, möchte für mich behalten, will für mich behalten, behalte für mich
        """,
        without=_PADDING,
    ),
    connecting=_words("und aber also weil denn deshalb deswegen daher darum drum da"),
    unknown_labels=_phrases("unbekannt, ist unbekannt, nicht bekannt, weiss nicht, keine angabe, unklar, unsicher"),
)

_COMMAND_PADDING = _words(
    """
    bitte ich möchte will mag gern gerne kann könnte man mal bitteschön jetzt eine einen ein die der das den zu
    mir würde werde wir sie du können könnten doch also ok okay danke
    """
)

COMMANDS = CommandWords(
    padding=_COMMAND_PADDING,
    kinds={
        kind: _phrases(listed, without=_COMMAND_PADDING, telling=True)
        for kind, listed in {
            "back": """
            zurück, zrugg, zruck, einen schritt zurück, schritt zurück, eine frage zurück, frage zurück,
            geh zurück, zurückgehen, vorherige frage, letzte frage, nochmal letzte frage, nochmals letzte frage,
            noch einmal letzte frage, vorige frage, zur letzten frage, zurück zur letzten frage,
            zur vorherigen frage, zurück zur vorherigen frage
            """,
            "skip": """
            überspringen, skip, weiter, nächste frage, frage überspringen,
            diese frage überspringen, auslassen, diese frage auslassen, frage auslassen, überspringe,
            überspring, weiter zur nächsten frage, passe
            """,
            "why": """
            warum, warum fragen, warum wird gefragt, warum fragen sie, warum fragen sie das, wozu,
            wozu brauchen sie das, weshalb, weshalb fragen sie das, wieso, wieso fragen sie das, wofür,
            wofür ist das, wofür brauchen sie das, warum ist das wichtig, warum wollen sie das wissen,
            wieso wollen sie das wissen, warum müssen sie das wissen, wozu wollen sie das wissen,
            warum fragst du das, wozu fragen sie das, warum wollt ihr das wissen, wozu ist das gut,
            warum brauchen sie das, wozu das
            """,
            "help": """
            hilfe, hilf mir, help, helfen sie mir, brauche hilfe, ich brauche hilfe, ?, ??, ???,
            was soll ich tun, was muss ich tun, was soll ich schreiben, wie geht das, was muss ich schreiben,
            wie antworte ich
            """,
            "pause": """
            pause, pause machen, später, später weiter, später weitermachen, stop, stopp, aufhören,
            unterbrechen, abbrechen, ein andermal, ich höre auf, morgen weiter, nicht jetzt,
            mache später weiter, schluss, beenden, später fortsetzen, halt
            """,
            "resume": """
            weiter machen, weitermachen, fortsetzen, fortfahren, continue, weiter gehts, weiter geht es,
            mach weiter, machen wir weiter, ich bin wieder da, bin wieder da, bin zurück, weiterfahren
            """,
            "summary": """
            zusammenfassung, übersicht, summary, meine antworten, zeig meine antworten,
            was habe ich geantwortet, antworten anzeigen, alle antworten, zeigen sie mir meine antworten,
            was haben sie bisher, überblick
            """,
            "repeat": """
            wie bitte, noch einmal, nochmal, nochmals, noch mal, wiederholen, wiederholen sie, wiederholung, hä,
            was, wie war die frage, was war die frage, frage wiederholen, frage noch einmal, frage nochmal,
            nomal, no amoi, wiederholen sie die frage, wiederhole die frage, was haben sie gefragt,
            die frage noch einmal, wie, pardon
            """,
        }.items()
    },
    change=_words(
        "ändern korrigieren ändere korrigiere berichtigen bearbeiten anpassen verbessern abändern ändara ändra"
    ),
    change_last=True,
    no_verb_before=_words("meinung"),
    change_padding=_COMMAND_PADDING
    | _words("meine meinen mein meiner angabe angaben antwort antworten frage nach zum zur beim bei noch nochmal auf"),
)

FRAMES = Frames(
    openers=_phrases(
        """
        mein name ist, mein name lautet, mein name wäre, der name ist, der name lautet, der name war, ich heisse,
        ich heiss, i heiss, man nennt mich, ich werde genannt, mein vorname ist, mein nachname ist,
        mein familienname ist, er heisst, sie heisst, es heisst, das heisst, die heisst, der heisst, es nennt sich,
        das nennt sich, meine nummer ist, meine nummer lautet, die nummer ist, die nummer lautet, meine adresse ist,
        die adresse ist, ich wohne in, meine antwort ist
        """
    ),
    closers=_phrases(
        """
        ist mein name, heisse ich, heiss ich, so heisse ich, ist der name, ist meine nummer, ist die nummer,
        ist meine adresse, heisst er, heisst sie, heisst es, heisst das, heisst die, heisst der
        """
    ),
    named=_phrases("ich bin, bin, ich bin die, ich bin der"),
    pointing=_phrases("das ist, das war, das wäre, es ist, es war, dies ist, hier ist, also das ist, also das war"),
    whose=_words("mein meine der die das unser unsere"),
    verbs=_words("ist lautet war heisst wäre sind"),
    names=_words("name namen vorname vornamen nachname nachnamen familienname heissen heisst heisse nennen"),
    none=_phrases(
        """
        nein, nö, nee, keine, keinen, keins, keines, kein, keiner, nichts, nix, habe ich nicht, hab ich nicht,
        hab i net, hab i ned, ha ich nöd, habe keine, habe keinen, habe keins, habe kein, hab keine, hab keinen,
        hab keins, hab kein, ich habe keine, ich habe keinen, ich habe keins, ich hab keine, ich hab keinen,
        ich hab keins, ich habe das nicht, das habe ich nicht, das hab ich nicht, so was habe ich nicht,
        sowas habe ich nicht, so etwas habe ich nicht, sowas hab ich nicht, so was hab ich nicht, besitze ich nicht,
        gibt es nicht, gibts nicht, gibt es keine, gibt es keinen, gibts keine, gibts keinen, nicht vorhanden,
        keine vorhanden, keins vorhanden, entfällt, trifft nicht zu, habe ich keine, habe ich keinen, habe ich keins,
        hab ich keine, hab ich keinen, hab ich keins, ich habe nichts, habe nichts, gar keine, gar keinen, gar nichts,
        ich besitze keine, ich besitze keinen, nicht dabei, none, nein habe ich nicht, nein hab ich nicht, n a
        """
    ),
)
