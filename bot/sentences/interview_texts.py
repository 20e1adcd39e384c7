"""Every fixed sentence of the interview, and the words that open a question. A further language is one more entry each.

Slots hold numbers, or typed answers of the patient who reads them (`bot/interview/manners/spoken.py`); nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

INTERVIEW_TEXTS: Mapping[str, Mapping[str, str]] = {
    "de": {
        # Beginning, pause and end
        "interview_offer": "Möchten Sie jetzt die Fragen der Radiologie beantworten? Das spart Zeit beim Termin.",
        "interview_declined": "In Ordnung. Wenn Sie möchten, schreiben Sie später /interview.",
        "interview_begin": (
            "Gut, ich stelle eine Frage nach der anderen. Antworten Sie in Ihren Worten. "
            "Sie können auch „zurück“, „überspringen“, „warum?“ oder „Pause“ schreiben, oder selbst etwas fragen."
        ),
        "interview_none": "Hier gibt es keine Fragen der Radiologie.",
        "paused": "Gern. Ihre Antworten sind gespeichert. Schreiben Sie „weitermachen“, wenn Sie so weit sind.",
        "resumed": "Schön, dass Sie wieder da sind. Wir machen dort weiter, wo Sie aufgehört haben.",
        "conversation_code": "Später weiter: klartext chat --conversation",
        "progress": "Frage {number} von {total}",
        "instance": "Nummer {number}:",
        "about_answer": "Es geht um: {answer}",
        # What kind of reply fits
        "no_text": "Ihre Angabe:",
        "file": "Eine Datei kann ich im Chat nicht annehmen, aber ihre Internet-Adresse.",
        "yes": "Ja",
        "no": "Nein",
        "several": "Mehrere sind möglich, zum Beispiel: 1 und 2.",
        "own_words": "Oder schreiben Sie es in Ihren eigenen Worten.",
        "more_options": "Das sind die ersten {shown} von {total}. Schreiben Sie einfach, was Sie suchen.",
        "scale": "Eine Zahl von {low} bis {high}.",
        "proposal": "Mein Vorschlag: {answer}. Stimmt das?",
        "so_far": (
            "Bisher steht hier: {answer}. Schreiben Sie die neue Antwort, oder „weiter“, wenn es so bleiben soll."
        ),
        # Reading back
        "read_back": "Ich habe verstanden: {answer}. Stimmt das?",
        "read_back_none": "Ich habe verstanden: nichts davon. Stimmt das?",
        "read_back_has_none": (
            "Ich habe verstanden: „Habe ich nicht“, oder es gibt hier nichts anzugeben. Stimmt das?"
        ),
        "unusual": "Dieser Wert ist ungewöhnlich. Bitte sehen Sie noch einmal hin.",
        "yes_or_no": "Bitte antworten Sie mit Ja oder Nein.",
        "corrected": "Entschuldigung. Dann bitte noch einmal:",
        "which_one": "Welche Antwort meinen Sie?",
        # Repetition
        "another_answer": "Gibt es noch etwas dazu? Wenn nicht, schreiben Sie Nein.",
        "any_group": "Gibt es hier etwas anzugeben?",
        "another_group": "Gibt es hier noch etwas anzugeben?",
        "which_more": "Gern. Was noch?",
        "go_ahead": "Gern. Schreiben Sie es einfach.",
        # Not understood
        "not_understood": "Das habe ich leider nicht verstanden.",
        "why_empty": "Ich habe nichts gelesen.",
        "why_too_long": "Das ist zu lang für mich. Bitte fassen Sie sich kürzer.",
        "why_several": "Ich brauche hier nur eine Antwort.",
        "why_range": "Bitte nennen Sie einen einzigen Wert, gern auch ungefähr.",
        "why_limit": "Bitte nennen Sie den Wert so genau, wie Sie ihn wissen. Ungefähr genügt.",
        "why_vague": "Können Sie das etwas genauer sagen? Ungefähr genügt.",
        "why_negated": "Sagen Sie mir bitte, was zutrifft, nicht was nicht zutrifft.",
        "why_contradiction": "Ich bin nicht sicher, ob Sie Ja oder Nein meinen.",
        "why_two_readings": "Das kann ich auf zwei Arten lesen. Bitte schreiben Sie es anders.",
        "why_impossible": "Diesen Tag oder diese Zeit gibt es nicht. Bitte sehen Sie noch einmal nach.",
        "why_not_whole": "Ich brauche hier eine ganze Zahl.",
        "why_too_big": "Diese Zahl ist mir zu groß.",
        "why_notation": "So kann ich die Zahl nicht lesen. Bitte schreiben Sie nur die Zahl.",
        "why_incomplete": "Da fehlt noch etwas. Bitte schreiben Sie es vollständig.",
        "why_unit_missing": "In welcher Einheit? Bitte schreiben Sie sie dazu.",
        "why_unit": "Diese Einheit kann ich hier nicht annehmen.",
        "why_implausible": "Dieser Wert kann so nicht stimmen. Bitte prüfen Sie die Zahl und die Einheit.",
        "why_not_listed": "Diese Antwort steht nicht auf der Liste. Schreiben Sie gern nur die Nummer.",
        "why_yes_no": "Das habe ich leider nicht verstanden. Bitte antworten Sie mit Ja oder Nein.",
        "why_decade": "Das ist mir noch zu ungenau. Können Sie ein Jahr nennen? Ungefähr reicht.",
        "why_exclusive": "Diese Antworten passen nicht zusammen. Bitte wählen Sie noch einmal.",
        "why_url": "Ich brauche hier eine Internet-Adresse.",
        "why_not_in_chat": "Das kann ich im Chat nicht annehmen.",
        "units": "Möglich ist: {answer}.",
        "in_unit": "Bitte in: {answer}.",
        "number_only": "Bitte schreiben Sie hier nur die Zahl.",
        "example_boolean": "Schreiben Sie zum Beispiel: Ja. Oder: Nein.",
        "example_integer": "Schreiben Sie zum Beispiel: 3",
        "example_decimal": "Schreiben Sie zum Beispiel: 2,5",
        "example_date": "Schreiben Sie zum Beispiel: 3. März 1975. Oder nur: März 1975. Oder nur: 1975.",
        "example_dateTime": "Schreiben Sie zum Beispiel: 3. März 2020 um 14:30 Uhr.",
        "example_time": "Schreiben Sie zum Beispiel: 14:30",
        "example_string": "Schreiben Sie einfach ein paar Wörter.",
        "example_url": "Schreiben Sie zum Beispiel: https://www.beispiel.ch",
        "example_choice": "Schreiben Sie zum Beispiel die Nummer: 1",
        "example_quantity": "Schreiben Sie eine Zahl und die Einheit, zum Beispiel: 70 kg",
        "example_answer": "Schreiben Sie zum Beispiel: {answer}",
        "noted": "Für das Team habe ich es so aufgeschrieben: {answer}.",
        "noted_too": "Das habe ich dazu für das Team aufgeschrieben: {answer}.",
        "marked": "Das macht nichts. Ich notiere die Frage für das Team, und wir machen weiter.",
        "kindly": (
            "Diese Frage ist für Ihre Untersuchung wichtig. Wenn Sie sie jetzt nicht beantworten möchten, "
            "schreiben Sie „überspringen“. Dann fragt das Team Sie persönlich."
        ),
        # Skipping
        "skipped": "In Ordnung, wir lassen diese Frage aus.",
        "dont_know": "Das ist in Ordnung. Ich notiere, dass Sie es nicht wissen.",
        "refused": "Das ist Ihr gutes Recht. Wir lassen diese Frage aus.",
        "left_to_team": "In Ordnung. Das Team fragt Sie persönlich danach.",
        "kept": "Gut, es bleibt bei: {answer}",
        "kept_nothing": "Gut, es bleibt dabei.",
        "removed": "In Ordnung, ich habe die Antwort gelöscht.",
        "not_in_chat": "Diese Angabe kann ich im Chat nicht annehmen. Bitte bringen Sie sie zum Termin mit.",
        # Limits of the question
        "problem": "Diese Antwort passt hier nicht.",
        "problem_refused": "Diese Antwort kann ich so nicht weitergeben. Bitte antworten Sie noch einmal.",
        "problem_too-many": "Das sind zu viele Antworten. Möglich sind höchstens {limit}.",
        "problem_too-few": "Das sind zu wenige Antworten. Es müssen mindestens {limit} sein.",
        "problem_too-long": "Das ist zu lang. Möglich sind höchstens {limit} Zeichen.",
        "problem_too-short": "Das ist zu kurz. Es müssen mindestens {limit} Zeichen sein.",
        "problem_pattern": "Das hat nicht die richtige Form.",
        "problem_below-minimum": "Das ist zu klein oder zu früh. Möglich ist: ab {answer}.",
        "problem_above-maximum": "Das ist zu viel oder zu spät. Möglich ist: bis {answer}.",
        "problem_decimal-places": "Das sind zu viele Stellen nach dem Komma. Möglich sind höchstens {limit}.",
        "problem_not-an-option": "Diese Antwort steht nicht auf der Liste.",
        "problem_exclusive": "Diese Antworten passen nicht zusammen. Bitte wählen Sie noch einmal.",
        "problem_twice": "Das haben Sie schon genannt.",
        "problem_unit": "Diese Einheit kann ich hier nicht annehmen.",
        "problem_required": "Diese Frage ist noch offen.",
        # Steering
        "how_to": (
            "Antworten Sie in Ihren Worten, oder mit der Nummer. „zurück“: eine Frage zurück. „überspringen“: "
            "Frage auslassen. „warum?“: wozu wir das fragen. „… ändern“: eine Antwort ändern. „Zusammenfassung“: "
            "alle Antworten. „Pause“: später weiter. Sie können auch selbst etwas fragen."
        ),
        "why_unknown": "Dazu steht hier keine Erklärung. Das Team beantwortet Ihnen das gern.",
        "no_way_back": "Das ist die erste Frage, weiter zurück geht es nicht.",
        "change_which": "Welche Antwort möchten Sie ändern? Schreiben Sie die Nummer.",
        "change_unknown": (
            "Dazu habe ich keine Frage gefunden. Welche Antwort möchten Sie ändern? Schreiben Sie die Nummer."
        ),
        "change_nothing": "Sie haben noch nichts beantwortet. Es gibt noch nichts zu ändern.",
        "number_unknown": "Diese Nummer gibt es nicht. Bitte wählen Sie von 1 bis {total}.",
        "on_with": "Zurück zu unserer Frage:",
        "no_pairs": "Diese Frage kann ich hier nicht beantworten. Bitte fragen Sie das Team.",
        "as_answer": "Darauf habe ich keine geprüfte Antwort. Soll ich es so für das Team aufschreiben: {answer}?",
        # Summary and sending
        "summary": "Das haben Sie geantwortet:",
        "summary_empty": "Sie haben noch nichts beantwortet.",
        "summary_answer": "{answer}",
        "summary_open": "noch offen",
        "summary_skipped": "ausgelassen",
        "summary_none": "habe ich nicht, oder nichts anzugeben",
        "summary_marked": "für das Team notiert",
        "summary_noted": "{answer} (für das Team notiert)",
        "summary_check": "Stimmt alles? Schreiben Sie Ja, oder die Nummer der Antwort, die Sie ändern möchten.",
        "summary_problems": "Bei diesen Angaben passt noch etwas nicht:",
        "summary_required": "Diese Fragen sind noch offen. Das Team wird Sie danach fragen:",
        "completed": "Vielen Dank. Ihre Antworten sind fertig und liegen für das Team bereit.",
        "in_progress": "Vielen Dank. Ich habe Ihre Antworten gespeichert. Was noch offen ist, fragt Sie das Team.",
        "done_already": "Sie haben die Fragen schon beantwortet. Hier können Sie noch etwas ändern.",
        "is_emergency": "Ist das gerade jetzt ein Notfall?",
        # Pieces
        "word_skip": "überspringen",
        "own": "„{answer}“",
        "choice": "{answer}",
    },
    "en": {
        "interview_offer": (
            "Would you like to answer the questions of the radiology team now? It saves time at your appointment."
        ),
        "interview_declined": "All right. If you like, write /interview later.",
        "interview_begin": (
            "Good, I will ask one question after the other. Answer in your own words. "
            "You can also write “back”, “skip”, “why?” or “pause”, or ask something yourself."
        ),
        "interview_none": "There are no questions of the radiology team here.",
        "paused": "Of course. Your answers are saved. Write “continue” when you are ready.",
        "resumed": "Good to have you back. We go on where you stopped.",
        "conversation_code": "To go on later: klartext chat --conversation",
        "progress": "Question {number} of {total}",
        "instance": "Number {number}:",
        "about_answer": "This is about: {answer}",
        "no_text": "Your answer:",
        "file": "I cannot take a file in the chat, but I can take its web address.",
        "yes": "Yes",
        "no": "No",
        "several": "More than one is possible, for example: 1 and 2.",
        "own_words": "Or write it in your own words.",
        "more_options": "These are the first {shown} of {total}. Just write what you are looking for.",
        "scale": "A number from {low} to {high}.",
        "proposal": "My suggestion: {answer}. Is that right?",
        "so_far": "So far it says: {answer}. Write the new answer, or “next” to leave it as it is.",
        "read_back": "I understood: {answer}. Is that right?",
        "read_back_none": "I understood: none of these. Is that right?",
        "read_back_has_none": "I understood: “I don't have that”, or there is nothing to say here. Is that right?",
        "unusual": "This value is unusual. Please look at it again.",
        "yes_or_no": "Please answer yes or no.",
        "corrected": "Sorry about that. Once again, please:",
        "which_one": "Which answer do you mean?",
        "another_answer": "Anything else? If not, write no.",
        "any_group": "Is there anything to tell us here?",
        "another_group": "Is there anything else to tell us here?",
        "which_more": "Of course. What else?",
        "go_ahead": "Of course. Just write it.",
        "not_understood": "I am sorry, I did not understand that.",
        "why_empty": "I did not read anything.",
        "why_too_long": "That is too long for me. Please make it shorter.",
        "why_several": "I need just one answer here.",
        "why_range": "Please give one single value. A rough one is fine.",
        "why_limit": "Please give the value as well as you know it. A rough one is fine.",
        "why_vague": "Can you say that a little more exactly? A rough answer is fine.",
        "why_negated": "Please tell me what is the case, not what is not.",
        "why_contradiction": "I am not sure whether you mean yes or no.",
        "why_two_readings": "I can read this in two ways. Please write it differently.",
        "why_impossible": "There is no such day or time. Please check it again.",
        "why_not_whole": "I need a whole number here.",
        "why_too_big": "That number is too big for me.",
        "why_notation": "I cannot read the number like that. Please write just the number.",
        "why_incomplete": "Something is missing. Please write it in full.",
        "why_unit_missing": "In which unit? Please write it, too.",
        "why_unit": "I cannot take this unit here.",
        "why_implausible": "This value cannot be right. Please check the number and its unit.",
        "why_not_listed": "That is not on the list. You can just write the number.",
        "why_yes_no": "I am sorry, I did not understand that. Please answer yes or no.",
        "why_decade": "I need that a little more exactly. Can you name a year? A rough one is fine.",
        "why_exclusive": "These answers do not fit together. Please choose again.",
        "why_url": "I need a web address here.",
        "why_not_in_chat": "I cannot take that in this chat.",
        "units": "Possible: {answer}.",
        "in_unit": "Please answer in: {answer}.",
        "number_only": "Please write just the number here.",
        "example_boolean": "For example, write: yes. Or: no.",
        "example_integer": "For example, write: 3",
        "example_decimal": "For example, write: 2.5",
        "example_date": "For example, write: 3 March 1975. Or just: March 1975. Or just: 1975.",
        "example_dateTime": "For example, write: 3 March 2020 at 2:30 pm.",
        "example_time": "For example, write: 14:30",
        "example_string": "Just write a few words.",
        "example_url": "For example, write: https://www.example.org",
        "example_choice": "For example, write the number: 1",
        "example_quantity": "Write a number and its unit, for example: 70 kg",
        "example_answer": "For example, write: {answer}",
        "noted": "For the team I have written it down like this: {answer}.",
        "noted_too": "I have written this down for the team, too: {answer}.",
        "marked": "Never mind. I note the question for the team, and we go on.",
        "kindly": (
            "This question matters for your examination. If you do not want to answer it now, write “skip”. "
            "Then the team will ask you in person."
        ),
        "skipped": "All right, we leave this question out.",
        "dont_know": "That is all right. I note that you do not know.",
        "refused": "That is your right. We leave this question out.",
        "left_to_team": "All right. The team will ask you in person.",
        "kept": "Good, it stays: {answer}",
        "kept_nothing": "Good, it stays as it is.",
        "removed": "All right, I have deleted the answer.",
        "not_in_chat": "I cannot take this in the chat. Please bring it to your appointment.",
        "problem": "This answer does not fit here.",
        "problem_refused": "I cannot pass this answer on as it is. Please answer again.",
        "problem_too-many": "These are too many answers. At most {limit} are possible.",
        "problem_too-few": "These are too few answers. At least {limit} are needed.",
        "problem_too-long": "That is too long. At most {limit} characters are possible.",
        "problem_too-short": "That is too short. At least {limit} characters are needed.",
        "problem_pattern": "That does not have the right form.",
        "problem_below-minimum": "That is too small or too early. Possible: from {answer}.",
        "problem_above-maximum": "That is too big or too late. Possible: up to {answer}.",
        "problem_decimal-places": "Those are too many decimal places. At most {limit} are possible.",
        "problem_not-an-option": "That is not on the list.",
        "problem_exclusive": "These answers do not fit together. Please choose again.",
        "problem_twice": "You have named that already.",
        "problem_unit": "I cannot take this unit here.",
        "problem_required": "This question is still open.",
        "how_to": (
            "Answer in your own words, or with the number. “back”: one question back. “skip”: leave the question "
            "out. “why?”: why we ask. “change …”: change an answer. “summary”: all answers. “pause”: go on "
            "later. You can also ask something yourself."
        ),
        "why_unknown": "There is no explanation here. The team will be glad to tell you.",
        "no_way_back": "This is the first question, there is no way further back.",
        "change_which": "Which answer would you like to change? Write its number.",
        "change_unknown": "I found no such question. Which answer would you like to change? Write its number.",
        "change_nothing": "You have not answered anything yet, so there is nothing to change.",
        "number_unknown": "There is no such number. Please choose from 1 to {total}.",
        "on_with": "Back to our question:",
        "no_pairs": "I cannot answer this question here. Please ask the team.",
        "as_answer": "I have no checked answer to that. Shall I write it down for the team like this: {answer}?",
        "summary": "This is what you answered:",
        "summary_empty": "You have not answered anything yet.",
        "summary_answer": "{answer}",
        "summary_open": "still open",
        "summary_skipped": "left out",
        "summary_none": "I don't have that, or nothing to say",
        "summary_marked": "noted for the team",
        "summary_noted": "{answer} (noted for the team)",
        "summary_check": "Is everything right? Write yes, or the number of the answer that you would like to change.",
        "summary_problems": "Something about these answers does not fit yet:",
        "summary_required": "These questions are still open. The team will ask you about them:",
        "completed": "Thank you very much. Your answers are finished and ready for the team.",
        "in_progress": "Thank you very much. I have saved your answers. The team will ask about what is still open.",
        "done_already": "You have answered the questions already. You can still change something here.",
        "is_emergency": "Is this an emergency right now?",
        "word_skip": "skip",
        "own": "“{answer}”",
        "choice": "{answer}",
    },
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words with which a question begins, folded (`bot/matching/text.py`).
QUESTION_OPENERS: Mapping[str, frozenset[str]] = {
    "de": _words("""
        wie was wann wo wohin woher warum wieso weshalb wozu wofuer womit wodurch wer wen wem wessen welche welcher
        welches welchen tut kann kannst koennen koennte muss muessen musst darf duerfen soll sollte sollen ist sind
        wird werden gibt dauert kostet bekomme kriege brauche braucht stimmt schadet
        """),
    "en": _words("""
        how what when where why which who whom whose does do did is are can could may might must should shall will
        would am
        """),
}
# After "can't" and the like at the beginning: what makes it a question, even without its mark.
ASKED_ABOUT: Mapping[str, frozenset[str]] = {"de": _words(""), "en": _words("i you it we they he she this that there")}
# After the first word of a message, these show that it tells something: "ist ewig her", "sind ungefähr zwei Jahre".
STATED_AFTER: Mapping[str, frozenset[str]] = {
    "de": _words("ewig lange laenger mir egal ungefaehr etwa circa ca bestimmt halt eben schon noch wohl"),
    "en": frozenset(),
}
# Words of leave that is given: "Können Sie gern machen" is no question.
GLADLY: Mapping[str, frozenset[str]] = {"de": _words("gern gerne ruhig"), "en": _words("")}
# Words that may stand before them.
QUESTION_PADDING: Mapping[str, frozenset[str]] = {
    "de": _words("und aber also nun eine frage noch entschuldigung sorry bitte sagen sie mal ok okay ja ach"),
    "en": _words("and but so well one a question please sorry excuse me ok okay yes oh tell"),
}
# How a message begins that takes back what was said before it.
SECOND_THOUGHTS: Mapping[str, tuple[str, ...]] = {
    "de": (
        "moment", "warte", "wart", "warten sie", "halt", "stop", "stopp", "ach", "oh", "doch", "aeh", "aehm", "hm",
        "nein", "nee", "ne", "noe", "na", "eigentlich", "sekunde", "falsch", "quatsch", "mir faellt ein",
        "da faellt mir ein", "vergessen",
    ),
    "en": (
        "no", "nope", "nah", "hang on", "hold on", "wait", "actually", "oh", "ah", "stop", "sorry", "er", "um", "hmm",
        "wrong", "scrap that", "come to think", "thinking about it", "i forgot", "one moment", "one sec", "just a",
    ),
}  # fmt: skip
# Further ways to say that there is nothing else, folded.
END_PHRASES: Mapping[str, frozenset[str]] = {
    "de": frozenset(
        (
            "das war s", "das wars", "des wars", "das war alles", "das ist alles", "das waere alles", "mehr nicht",
            "sonst niemand", "sonst keiner", "niemand sonst", "niemand mehr", "niemand", "keiner mehr",
            "nein sonst niemand",
            "nein niemand mehr", "nein keine weiteren verwandten", "keine weiteren verwandten", "keine weiteren",
            "nein das war s", "nein das wars", "nein das ist alles", "fertig", "sonst nichts", "sonst keine", "ende",
            "genug", "reicht", "das reicht", "mehr faellt mir nicht ein",
        )
    ),
    "en": frozenset(
        (
            "that s all", "that is all", "thats all", "that s it", "thats it", "that is it", "nope that s it", "done",
            "nobody else", "no one else", "noone else", "no nobody else", "no other relatives", "no more relatives",
            "that s everything", "no that s everything", "no that s everything ta", "no that s everything thanks",
            "that s the lot", "no that s the lot", "no that s it", "finished", "nothing more", "enough", "the end",
            "no that s all", "no that is all",
        )
    ),
}  # fmt: skip
# Words, folded, that only agree once more after a yes.
AGREEING_WORDS = _words("""
    ja alles stimmt passt gut richtig korrekt so ist es das in ordnung ok okay danke bitte absenden abschicken senden
    fertig kann los weg dann genau perfekt prima klar yes all everything is correct right fine good it s that thanks
    thank you please send submit done perfect exactly now go ahead looks jetzt nun soweit schon wohl denk denke glaub
    glaube ich i think so yep yeah jo
    """)
# Words, folded, beside the number of a row that is to be changed: "bei der 28 stimmt was nicht".
ROW_WORDS = _words("""
    die der das den dem nr nummer zeile frage punkt antwort bei in an zu moecht moechte mecht will wuerde gern gerne ich
    i aendern stimmt nicht net ned was etwas falsch ist is nochmal noch einmal bitte da number no row question answer
    wrong change please want would like to fix correct incorrect not right the it s there something again with at for my
    """)
# Those that agree by themselves.
RIGHT_WORDS = _words(
    "stimmt passt gut richtig korrekt perfekt genau correct right fine good perfect exactly ordnung klar"
)
# Words, folded, that say that something is to be corrected, or added.
CORRECTING_WORDS = _words("""
    uebrigens eigentlich korrektur korrigieren falsch sorry entschuldigung doch vertan verschrieben vertippt geirrt
    irrtum vergessen aendern actually correction correct wrong mistake meant typo forgot forgotten change way
    """)
ADDING_WORDS = _words("""
    vergessen noch auch zusaetzlich ausserdem dazu ergaenzen nachtragen forgot forgotten also too add another besides
    more
    """)
# Further ways to say that the summary may go.
SEND_WORDS: Mapping[str, frozenset[str]] = {
    "de": _words("absenden abschicken senden schicken speichern fertig alles"),
    "en": _words("send submit save finish finished done"),
}
