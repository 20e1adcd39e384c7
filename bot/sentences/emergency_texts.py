"""Whom to call, by country, and the fixed sentences that say so. Numbers stand in whole sentences: the guard compares
those, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.catalog.catalog import Country


@dataclass(frozen=True, slots=True)
class Lines:
    """Telephone numbers, as they are said."""

    emergency: str
    poison: str
    counsel: tuple[str, ...]
    listening: str  # who answers there


LINES: Mapping[Country, Lines] = {
    "AT": Lines("144", "01 406 43 43", ("142",), "TelefonSeelsorge"),
    "CH": Lines("144", "145", ("143",), "Die Dargebotene Hand"),
    "DE": Lines("112", "030 19240", ("0800 111 0 111", "116 123"), "TelefonSeelsorge"),
    "GB": Lines("999", "111", ("116 123",), "Samaritans"),
}
# Whom to call when it cannot wait and the practice is closed.
OUT_OF_HOURS: Mapping[str, Mapping[Country, str]] = {
    "de": {
        "AT": "1450",
        "CH": "den ärztlichen Notdienst Ihrer Region",
        "DE": "116 117",
        "GB": "NHS 111",
    },
    "en": {
        "AT": "1450",
        "CH": "the medical on-call service of your region",
        "DE": "116 117",
        "GB": "NHS 111",
    },
}
# Where no country is set: the emergency numbers, and whose further lines the sentences name, in their order.
EVERYWHERE: Mapping[str, tuple[str, ...]] = {"de": ("112", "144"), "en": ("112", "999", "144")}
_NAMED: Mapping[str, Mapping[Country, str]] = {
    "de": {"DE": "Deutschland", "AT": "Österreich", "CH": "Schweiz"},
    "en": {"DE": "Germany", "AT": "Austria", "CH": "Switzerland", "GB": "UK"},
}
_POISON = {"de": "Giftnotruf", "en": "Poison information"}
# Sentences that name further lines.
_OF_POISON, _OF_LISTENING = ("urgent_overdose",), ("urgent_overdose", "urgent_suicide", "calmed_harm")

# What several of them say: on complaints, and on what cannot wait. Phrases of the exam are put in by `sentences`.
_SHARED: Mapping[str, Mapping[str, str]] = {
    "de": {
        "net": "{changes} Rufen Sie innerhalb weniger Tage {practice} an.",
        "today": (
            "{severe} Rufen Sie noch heute an. Ist die Praxis zu, rufen Sie {out_of_hours} an. Im Notfall rufen Sie "
            "{emergency} an, bei Fieber in der Chemotherapie sofort Ihr Behandlungsteam, auch nachts."
        ),
        "still": (
            "Blutet etwas? Drücken Sie 10 Minuten fest darauf. Hört es dann nicht auf, gehen Sie sofort in eine "
            "Notaufnahme. {severe_still} Rufen Sie noch heute Ihre Arztpraxis an, in der Chemotherapie sofort Ihr "
            "Behandlungsteam, auch nachts. Ist dort zu, rufen Sie {out_of_hours} an."
        ),
    },
    "en": {
        "net": "{changes} Call {practice} within a few days.",
        "today": (
            "{severe} call today. If the practice is closed, call {out_of_hours}. In an emergency call {emergency}; "
            "with a fever during chemotherapy call your treatment team at once, day or night."
        ),
        "still": (
            "Is anything bleeding? Press on it firmly for 10 minutes. If it then does not stop, go to an emergency "
            "department at once. {severe_still} Call your doctor today, or during chemotherapy your treatment team at "
            "once, day or night. If they are closed, call {out_of_hours}."
        ),
    },
}
_SENTENCES: Mapping[str, Mapping[str, str]] = {
    "de": {
        "emergency_notice": (
            "Notfall? Rufen Sie {emergency} an. Hier antwortet ein Programm. Ihre Nachricht sieht vielleicht niemand."
        ),
        "urgent": (
            "Rufen Sie jetzt {emergency} an: Das klingt nach einem Notfall. Wenn Sie schon bei uns sind, sagen Sie "
            "sofort dem Personal Bescheid, oder rufen Sie laut um Hilfe. Warten Sie nicht auf diesen Chat."
        ),
        "urgent_unsure": (
            "Ist gerade jemand in Gefahr? Dann rufen Sie jetzt {emergency} an, und sagen Sie es sofort dem Personal, "
            "wenn Sie schon bei uns sind. Ich bin ein Programm und nicht sicher, ob ich Sie richtig verstehe. Ist es "
            "kein Notfall, schreiben Sie einfach weiter."
        ),
        "urgent_suicide_unsure": (
            "Denken Sie daran, sich etwas anzutun? Dann rufen Sie jetzt {emergency} an, und bleiben Sie nicht allein. "
            "Tag und Nacht hört Ihnen jemand zu: {counsel}. Ich bin ein Programm und nicht sicher, ob ich Sie richtig "
            "verstehe. Meinten Sie etwas anderes, schreiben Sie einfach weiter."
        ),
        "complaint_today_unsure": (
            "{severe_unsure} Rufen Sie noch heute Ihre Arztpraxis an. Ist dort zu, rufen Sie {out_of_hours} an, im "
            "Notfall {emergency}."
        ),
        "complaint_days_unsure": "{net} {today}",
        "complaint_appointment_unsure": (
            "Haben Sie Beschwerden, sagen Sie es dem Team, bevor die Aufnahmen gemacht werden. {net} {today}"
        ),
        "urgent_overdose": (
            "Rufen Sie jetzt {emergency} an, auch wenn Sie noch nichts spüren: Das kann eine Vergiftung sein. Bringen "
            "Sie sich nicht zum Erbrechen, und halten Sie die Packung bereit. Wenn Sie schon bei uns sind, sagen Sie "
            "sofort dem Personal Bescheid. Warten Sie nicht auf diesen Chat. Der Giftnotruf hilft auch: {poison}. "
            "Wollten Sie sich etwas antun? Bleiben Sie nicht allein. Tag und Nacht hört Ihnen jemand zu: {counsel}."
        ),
        "urgent_suicide": (
            "Sind Sie in Gefahr, oder haben Sie sich schon etwas angetan? Rufen Sie jetzt {emergency} an. Bleiben Sie "
            "nicht allein. Wenn Sie schon bei uns sind, sprechen Sie sofort jemanden vom Personal an. Es tut mir "
            "leid, dass es Ihnen so schlecht geht. Tag und Nacht hört Ihnen jemand zu: {counsel}."
        ),
        "urgent_chest_pain": (
            "Rufen Sie jetzt {emergency} an, wenn es innen im Brustkorb (wo Herz und Lunge sind) stark wehtut, drückt "
            "oder eng ist oder wenn es länger als 5 Minuten dauert. Rufen Sie auch an, wenn der Schmerz in Arm, "
            "Schulter, Hals, Kiefer, Rücken oder Oberbauch zieht oder wenn es beim Einatmen wehtut. Oder wenn Sie "
            "schlecht Luft bekommen, Ihnen übel oder schwindlig ist, Sie kalt schwitzen oder plötzlich große Angst "
            "haben: Bei Frauen sind das manchmal die einzigen Zeichen. Es kann das Herz sein. War es in den letzten "
            "24 Stunden so und ist wieder weg? Rufen Sie trotzdem an. Wenn Sie schon bei uns sind, sagen Sie sofort "
            "dem Personal Bescheid. Im Zweifel rufen Sie an."
        ),
        "go_on": (
            "Danke, dass Sie das sagen. Wenn es schlimmer wird, rufen Sie sofort {emergency} an. {still} Was möchten "
            "Sie über Ihre Untersuchung wissen?"
        ),
        "calmed": "Danke, dass Sie das sagen. Wenn es schlimmer wird, rufen Sie sofort {emergency} an. {still}",
        "calmed_harm": (
            "Danke, dass Sie das sagen. Haben Sie zu viel von einem Mittel genommen? Dann rufen Sie trotzdem jetzt "
            "{emergency} an, auch wenn Sie nichts spüren. Denken Sie daran, sich etwas anzutun? Bleiben Sie nicht "
            "allein. Tag und Nacht hört Ihnen jemand zu: {counsel}. Wenn Sie in Gefahr sind, rufen Sie sofort "
            "{emergency} an."
        ),
        "calmed_breast": (
            "Danke, dass Sie das sagen. Rufen Sie sofort {emergency} an, wenn auch nur eines dieser Zeichen "
            "dazukommt, selbst wenn es wieder vergeht: Schmerz, Druck oder Enge innen im Brustkorb; Schmerz, der in "
            "Arm, Schulter, Hals, Kiefer, Rücken oder Oberbauch zieht; Schmerz beim Einatmen; Atemnot, Übelkeit, "
            "Schwindel, kalter Schweiß oder plötzliche große Angst. Das gilt auch, wenn eines davon in den letzten 24 "
            "Stunden da war. War es vor 2 oder 3 Tagen, rufen Sie noch heute Ihre Hausarztpraxis an. {chest_calm} "
            "Rufen Sie innerhalb weniger Tage {practice} an. {today}"
        ),
        "none_chosen": (
            "Danke. Ich habe Ihre Frage notiert, aber vielleicht liest sie vor Ihrem Termin niemand. Fragen Sie gern "
            "noch einmal mit anderen Worten. {net} {today}"
        ),
        "declined": (
            "Darauf habe ich leider keine Antwort. Ich habe Ihre Frage notiert, aber vielleicht liest sie vor Ihrem "
            "Termin niemand: Fragen Sie auch am Telefon. {declined} Im Notfall rufen Sie {emergency} an."
        ),
        "declined_again": (
            "Auch darauf habe ich leider keine Antwort. Fragen Sie bitte am Telefon, oder versuchen Sie es mit "
            "anderen Worten. {declined_again} Im Notfall rufen Sie {emergency} an."
        ),
        "declined_third": (
            "Dafür bin ich leider die falsche Stelle: Ein Mensch am Telefon kann Ihnen besser helfen als ich. "
            "{declined_third} Im Notfall rufen Sie {emergency} an."
        ),
        "feel_sadness_again": (
            "Bleiben Sie damit bitte nicht allein. Tag und Nacht hört Ihnen jemand zu: {counsel}. Sie müssen Ihren "
            "Namen nicht sagen."
        ),
        "complaint_today": (
            "Das soll sich heute noch jemand ansehen. Ich bin ein Programm und kann es nicht beurteilen. Rufen Sie "
            "heute {practice} an, nach einem Eingriff die Stelle, die ihn gemacht hat. Ist dort zu, rufen Sie "
            "{out_of_hours} an. Bei Fieber in der Chemotherapie rufen Sie sofort Ihr Behandlungsteam an, auch nachts. "
            "Rufen Sie sofort {emergency} an, wenn Sie schlecht Luft bekommen, Schüttelfrost haben oder verwirrt sind "
            "oder wenn es innen im Brustkorb wehtut."
        ),
        "complaint_days": (
            "Danke, dass Sie das schreiben. Ich bin ein Programm und kann es nicht beurteilen. Rufen Sie innerhalb "
            "weniger Tage {practice} an, und warten Sie damit nicht {wait_for}. {today}"
        ),
        "complaint_appointment": (
            "Danke, dass Sie das schreiben. Ich bin ein Programm und kann es nicht beurteilen. Sagen Sie es bei der "
            "Untersuchung dem Team, bevor die Aufnahmen gemacht werden. {net} {today}"
        ),
        "complaint_now": (
            "Das kann dringend sein. Ich bin ein Programm und kann es nicht beurteilen. Ist es jetzt so, oder geht es "
            "Ihnen schlecht? Rufen Sie {emergency} an. Bei Fieber in der Chemotherapie rufen Sie sofort Ihr "
            "Behandlungsteam an, auch nachts. Sonst rufen Sie noch heute Ihre Hausarztpraxis an. Ist dort zu, rufen "
            "Sie {out_of_hours} an."
        ),
        "complaint_other": (
            "Das kann ich nicht beurteilen. Ich bin ein Programm und weiß nur {knows} etwas. Fragen Sie bitte Ihre "
            "Hausarztpraxis. Ist es neu, stark oder wird es schlimmer, rufen Sie noch heute dort an. Ist dort zu, "
            "rufen Sie {out_of_hours} an. Im Notfall rufen Sie {emergency} an."
        ),
        "no_pairs": (
            "Diese Frage kann ich hier leider nicht beantworten. Fragen Sie bitte das Team am Telefon oder am "
            "Empfang. {net} {today}"
        ),
        "safe": (
            "Entschuldigung, da ist bei mir etwas schiefgegangen. Bitte versuchen Sie es noch einmal, oder rufen Sie "
            "die Radiologie an. Im Notfall rufen Sie {emergency} an."
        ),
        "why_too_long": (
            "Das ist leider zu lang für mich. Bitte schreiben Sie es kürzer. Im Notfall rufen Sie {emergency} an."
        ),
        "staff_called": (
            "Ich habe notiert, dass Sie mit dem Personal sprechen möchten. Ich kann nicht versprechen, wann es jemand "
            "liest. Wenn es eilt, rufen Sie bitte die Radiologie an, oder sprechen Sie vor Ort jemanden vom Team an. "
            "Im Notfall rufen Sie {emergency} an."
        ),
        "staff_is_called": (
            "Ich habe das Personal gerufen. Jemand liest mit, sobald es möglich ist, und antwortet Ihnen hier. Wenn "
            "es eilt, rufen Sie bitte die Radiologie an, oder sprechen Sie vor Ort jemanden vom Team an. Im Notfall "
            "rufen Sie {emergency} an."
        ),
        "chat_closed": (
            "Der Chat ist im Moment geschlossen, ich beantworte keine Fragen. Rufen Sie bitte die Radiologie an, oder "
            "sprechen Sie vor Ort jemanden vom Team an. Im Notfall rufen Sie {emergency} an."
        ),
        "staff_is_called_closed": (
            "Die Radiologie hat gerade geschlossen. Ich habe das Personal gerufen, aber vielleicht liest es vorher "
            "niemand. Im Notfall rufen Sie {emergency} an."
        ),
        "staff_night": (
            "Kann es nicht so lange warten? Dann rufen Sie {out_of_hours} an. Im Notfall rufen Sie {emergency} an."
        ),
        "staff_seen": (
            "Das Personal hat gesehen, dass Sie gerufen haben. Ich kann nicht sagen, wann jemand antwortet. Wenn es "
            "eilt, rufen Sie bitte an. Im Notfall rufen Sie {emergency} an."
        ),
        "staff_unseen": (
            "Das Personal ist gerufen, aber es hat noch niemand gesehen. Ich kann nicht sagen, wann jemand antwortet. "
            "Wenn es eilt, rufen Sie bitte an. Im Notfall rufen Sie {emergency} an."
        ),
        "staff_reads": "Das Personal liest mit und antwortet Ihnen hier. Im Notfall rufen Sie {emergency} an.",
        "staff_reads_rest": (
            "Das Personal liest mit und antwortet Ihnen hier. Schreiben Sie „ok“, um neue Nachrichten zu sehen. Im "
            "Notfall rufen Sie {emergency} an."
        ),
    },
    "en": {
        "emergency_notice": (
            "Emergency? Call {emergency}. A computer program answers here. It may be that nobody sees your message."
        ),
        "urgent": (
            "Call {emergency} now: this sounds like an emergency. If you are already with us, tell a member of staff "
            "at once, or shout for help. Do not wait for this chat."
        ),
        "urgent_unsure": (
            "Is anyone in danger right now? Then call {emergency} now, and tell a member of staff at once if you are "
            "already with us. I am a computer program and not sure that I understand you. If it is no emergency, just "
            "go on writing."
        ),
        "urgent_suicide_unsure": (
            "Are you thinking of harming yourself? Then call {emergency} now, and do not stay alone. Someone will "
            "listen day and night: {counsel}. I am a computer program and not sure that I understand you. If you "
            "meant something else, just go on writing."
        ),
        "complaint_today_unsure": (
            "{severe_unsure} Call {practice} today. If they are closed, call {out_of_hours}, in an emergency "
            "{emergency}."
        ),
        "complaint_days_unsure": "{net} {today}",
        "complaint_appointment_unsure": (
            "If you have any trouble, tell the team before the images are taken. {net} {today}"
        ),
        "urgent_overdose": (
            "Call {emergency} now, even if you do not feel anything yet: this may be poisoning. Do not make yourself "
            "vomit, and keep the packet at hand. If you are already with us, tell a member of staff at once. Do not "
            "wait for this chat. Poison information can help too: {poison}. Were you trying to harm yourself? Do not "
            "stay alone. Someone will listen day and night: {counsel}."
        ),
        "urgent_suicide": (
            "Are you in danger, or have you already harmed yourself? Call {emergency} now. Do not stay alone. If you "
            "are already with us, speak to a member of staff at once. I am sorry that you are feeling so bad. Someone "
            "will listen day and night: {counsel}."
        ),
        "urgent_chest_pain": (
            "Call {emergency} now if you have strong pain, pressure or tightness inside your chest (where your heart "
            "and lungs are), or if it lasts longer than 5 minutes. Call too if the pain spreads to your arm, "
            "shoulder, neck, jaw, back or upper belly, or if it hurts when you breathe in. Or if you are short of "
            "breath, feel sick or dizzy, break out in a cold sweat or are suddenly very afraid: in women these are "
            "sometimes the only signs. It may be your heart. Was it like this in the last 24 hours, and has it gone "
            "again? Call all the same. If you are already with us, tell a member of staff at once. If in doubt, call."
        ),
        "go_on": (
            "Thank you for telling me. If it gets worse, call {emergency} at once. {still} What would you like to know "
            "about your examination?"
        ),
        "calmed": "Thank you for telling me. If it gets worse, call {emergency} at once. {still}",
        "calmed_harm": (
            "Thank you for telling me. Have you taken too much of a medicine? Then call {emergency} now all the same, "
            "even if you do not feel anything. Are you thinking of harming yourself? Do not stay alone. Someone will "
            "listen day and night: {counsel}. If you are in danger, call {emergency} at once."
        ),
        "calmed_breast": (
            "Thank you for telling me. Call {emergency} at once if you get just one of these signs, even if it goes "
            "away again: pain, pressure or tightness inside your chest; pain that spreads to your arm, shoulder, "
            "neck, jaw, back or upper belly; pain when you breathe in; shortness of breath, feeling sick or dizzy, a "
            "cold sweat or sudden great fear. This is true even if you had one of them in the last 24 hours and it "
            "has gone. If it was 2 or 3 days ago, call your GP today. {chest_calm} Call {practice} within a few days. "
            "{today}"
        ),
        "none_chosen": (
            "Thank you. I have noted your question, but it may be that nobody reads it before your appointment. "
            "Please feel free to ask it in other words. {net} {today}"
        ),
        "declined": (
            "I am sorry, I have no answer to that. I have noted your question, but it may be that nobody reads it "
            "before your appointment: please also ask by phone. {declined} In an emergency call {emergency}."
        ),
        "declined_again": (
            "I am sorry, I have no answer to that either. Please ask by phone, or try other words. {declined_again} "
            "In an emergency call {emergency}."
        ),
        "declined_third": (
            "I am sorry, I am the wrong place for this: a human being on the phone can help you better than I can. "
            "{declined_third} In an emergency call {emergency}."
        ),
        "feel_sadness_again": (
            "Please do not stay alone with this. Someone will listen day and night: {counsel}. You do not have to "
            "say your name."
        ),
        "complaint_today": (
            "Somebody should look at this today. I am a computer program and cannot tell what it is. Call {practice} "
            "today, or after a procedure the place that did it. If they are closed, call {out_of_hours}. With a fever "
            "during chemotherapy call your treatment team at once, day or night. Call {emergency} at once if you are "
            "short of breath, shiver or are confused, or if it hurts inside your chest."
        ),
        "complaint_days": (
            "Thank you for telling me. I am a computer program and cannot tell what it is. Call {practice} within a "
            "few days, and do not wait {wait_for} to do so. {today}"
        ),
        "complaint_appointment": (
            "Thank you for telling me. I am a computer program and cannot tell what it is. Tell the team at your "
            "examination, before the images are taken. {net} {today}"
        ),
        "complaint_now": (
            "This may be urgent. I am a computer program and cannot tell what it is. Is it like this now, or do you "
            "feel very unwell? Call {emergency}. With a fever during chemotherapy call your treatment team at once, "
            "day or night. Otherwise call your GP today. If they are closed, call {out_of_hours}."
        ),
        "complaint_other": (
            "I cannot tell what that is. I am a computer program and know only {knows}. Please ask your GP. If it is "
            "new, strong or getting worse, call them today. If they are closed, call {out_of_hours}. In an emergency "
            "call {emergency}."
        ),
        "no_pairs": (
            "I am sorry, I cannot answer this question here. Please ask the team by phone or at reception. {net} "
            "{today}"
        ),
        "safe": (
            "I am sorry, something went wrong on my side. Please try again, or call the radiology department. In an "
            "emergency call {emergency}."
        ),
        "why_too_long": (
            "I am sorry, that is too long for me. Please make it shorter. In an emergency call {emergency}."
        ),
        "staff_called": (
            "I have noted that you would like to speak to a member of staff. I cannot promise when someone will read "
            "it. If it is urgent, please call the radiology department, or speak to someone from the team if you are "
            "here. In an emergency call {emergency}."
        ),
        "staff_is_called": (
            "I have called the staff. Someone will read this as soon as possible, and will reply to you here. If it "
            "is urgent, please call the radiology department, or speak to someone from the team if you are here. In "
            "an emergency call {emergency}."
        ),
        "chat_closed": (
            "The chat is closed at the moment, and I am answering no questions. Please call the radiology department, "
            "or speak to somebody from the team there. In an emergency call {emergency}."
        ),
        "staff_is_called_closed": (
            "The radiology department is closed at the moment. I have called the staff, but it may be that nobody "
            "reads this before it opens. In an emergency call {emergency}."
        ),
        "staff_night": "If it cannot wait that long, call {out_of_hours}. In an emergency call {emergency}.",
        "staff_seen": (
            "Staff have seen that you called. I cannot say when someone will reply. If it is urgent, please phone. In "
            "an emergency call {emergency}."
        ),
        "staff_unseen": (
            "Staff have been called, but nobody has seen it yet. I cannot say when someone will reply. If it is "
            "urgent, please phone. In an emergency call {emergency}."
        ),
        "staff_reads": "Staff are reading along and will reply to you here. In an emergency call {emergency}.",
        "staff_reads_rest": (
            'Staff are reading along and will reply to you here. Write "ok" to see new messages. In an emergency call '
            "{emergency}."
        ),
    },
}
_OR = {"de": " oder ", "en": " or "}


def sentences(language: str, phrases: Mapping[str, str]) -> dict[str, str]:
    """Return the sentences of a language with the numbers of each country, by key and country: `urgent_ch`.

    `phrases`: what they say of the exam.
    """
    return {
        f"{key}_{country.lower()}": _said(sentence, language, country, phrases)
        for key, sentence in _SENTENCES[language].items()
        for country in LINES
    }


def _said(sentence: str, language: str, country: Country, phrases: Mapping[str, str]) -> str:
    lines = LINES[country]
    called = {
        **phrases,
        "emergency": lines.emergency,
        "poison": lines.poison,
        "counsel": f"{lines.listening} {_OR[language].join(lines.counsel)}",
        "out_of_hours": OUT_OF_HOURS[language][country],
        # There, everything begins with the GP.
        "practice": "your GP" if (language, country) == ("en", "GB") else phrases["practice"],
    }
    shared = {key: text.format(**called) for key, text in _SHARED[language].items()}
    return sentence.format(**called, **shared)


def numbers(country: Country | None, language: str) -> tuple[str, ...]:
    """Return the emergency numbers of a country; None: those that the sentences name where no country is set."""
    return EVERYWHERE[language] if country is None else (LINES[country].emergency,)


@dataclass(frozen=True, slots=True)
class Helpline:
    """Somebody to call beside the emergency number; `name` says who answers."""

    name: str
    number: str


def helplines(key: str, country: Country | None, language: str) -> tuple[Helpline, ...]:
    """Return whom else the sentence of a key names, in its order."""
    named = _NAMED[language] if country is None else {country: ""}
    found = []
    if key.startswith(_OF_POISON):
        found += [(_POISON[language], where, LINES[which].poison) for which, where in named.items()]
    if key.startswith(_OF_LISTENING):
        lines = ((LINES[which], where) for which, where in named.items())
        found += [(line.listening, where, number) for line, where in lines for number in line.counsel]
    return tuple(Helpline(f"{name} ({where})" if where else name, number) for name, where, number in found)
