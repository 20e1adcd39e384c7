"""Every fixed sentence that Klartext itself says to patients. Slots hold only typed values, never patient text."""

from __future__ import annotations

from collections.abc import Mapping

INTERFACE_TEXTS: Mapping[str, Mapping[str, str]] = {
    "de": {
        "welcome": (
            "Guten Tag. Ich bin ein Programm und beantworte Fragen zur Mammographie. "
            "Schreiben Sie einfach, was Sie wissen möchten."
        ),
        "emergency_notice": (
            "Notfall? Rufen Sie 112 an (Schweiz: 144). Dieser Chat wird nicht laufend von Menschen gelesen."
        ),
        "sample_label": "Beispielinhalt, nicht ärztlich freigegeben",
        "clarify": "Ich bin nicht sicher, was Sie meinen. Meinten Sie eine dieser Fragen?",
        "none_of_these": "Nichts davon",
        "none_chosen": "Danke. Ich habe Ihre Frage für das Team notiert. Fragen Sie gern noch einmal mit anderen Worten.",
        "declined": (
            "Darauf habe ich leider keine geprüfte Antwort. Ich habe Ihre Frage für das Team notiert. "
            "Bitte fragen Sie beim Termin oder rufen Sie in der Radiologie an. "
            "Sie können auch eine andere Frage stellen, zum Beispiel zu Ablauf, Schmerzen, Strahlung oder Kosten."
        ),
        "too_long": "Ihre Nachricht ist zu lang für mich. Bitte schreiben Sie Ihre Frage in höchstens {limit} Zeichen.",
        "greeting": "Guten Tag! Was möchten Sie über Ihre Untersuchung wissen?",
        "thanks": "Gern geschehen. Haben Sie noch eine Frage?",
        "stop": "In Ordnung. Sie können jederzeit aufhören oder weiterfragen.",
        "ask_away": "Gern. Schreiben Sie einfach Ihre Frage.",
        "go_on": (
            "Gut. Wenn es schlimmer wird, rufen Sie sofort 112 an (Schweiz: 144). Was möchten Sie über "
            "Ihre Untersuchung wissen?"
        ),
        "calmed": "Gut. Wenn es schlimmer wird, rufen Sie sofort 112 an (Schweiz: 144).",
        # To short reactions, which ask nothing
        "all_right": "Gern. Wenn Sie noch etwas wissen möchten, fragen Sie einfach.",
        "take_your_time": "Lassen Sie sich Zeit. Wenn Sie etwas wissen möchten, fragen Sie einfach.",
        "refusal": "In Ordnung, das entscheiden Sie. Wenn Sie etwas wissen möchten, fragen Sie einfach.",
        "help_plain": (
            "Schreiben Sie Ihre Frage in eigenen Worten, zum Beispiel: Tut das weh? Wenn eine Antwort zu "
            "schwierig ist, schreiben Sie: einfacher."
        ),
        "empty": "Ich habe nichts gelesen. Schreiben Sie einfach Ihre Frage.",
        "easy_intro": "Einfacher erklärt:",
        "easy_missing": "Zu dieser Antwort gibt es keine einfachere Fassung.",
        "nothing_to_explain": "Stellen Sie zuerst eine Frage. Danach kann ich die Antwort einfacher erklären.",
        "nothing_to_flag": "Stellen Sie zuerst eine Frage. Danach können Sie die Antwort melden.",
        "flagged": "Danke für den Hinweis. Das Team sieht sich diese Antwort an.",
        "help": (
            "Schreiben Sie Ihre Frage in eigenen Worten. /easy: Antwort einfacher. "
            "/flag: Antwort melden. /quit: beenden."
        ),
        "goodbye": "Auf Wiedersehen und alles Gute für Ihre Untersuchung.",
        "safe": "Da ist etwas schiefgegangen. Bitte wenden Sie sich an das Team der Radiologie.",
        "withdrawn": "Diese Antwort gilt nicht mehr. Bitte fragen Sie noch einmal.",
        "you": "Sie",
        "choose": "Nummer oder neue Frage",
        "urgent": (
            "Das klingt nach einem Notfall. Rufen Sie jetzt 112 an (Schweiz: 144), oder rufen Sie laut um Hilfe. "
            "Wenn Sie schon bei uns sind, sagen Sie sofort dem Personal Bescheid. Warten Sie nicht auf diesen Chat."
        ),
        "urgent_overdose": (
            "Das klingt nach einer Vergiftung. Rufen Sie jetzt 112 an (Schweiz: 144). "
            "Der Giftnotruf hilft auch: Schweiz 145, Österreich 01 406 43 43, Deutschland 030 19240. "
            "Halten Sie die Packung bereit. Warten Sie nicht auf diesen Chat."
        ),
        "urgent_suicide": (
            "Es tut mir leid, dass es Ihnen so schlecht geht. Sie müssen damit nicht allein bleiben. "
            "Rund um die Uhr hört Ihnen jemand zu: Deutschland 0800 111 0 111 oder 116 123, Österreich 142, Schweiz 143. "
            "Wenn Sie in Gefahr sind, rufen Sie jetzt 112 an (Schweiz: 144)."
        ),
        "urgent_chest_pain": (
            "Schmerz oder Druck in der Brust kann vom Herzen kommen. Wenn es jetzt stark ist, eng wird, in Arm oder Kiefer "
            "zieht oder Sie schlecht Luft bekommen: Rufen Sie sofort 112 an (Schweiz: 144)."
        ),
        "chest_question": "Haben Sie gerade jetzt starke Schmerzen, Druck oder Enge?",
        "chest_breast": "Nein, es ist kein Notfall",
        "staff_called": (
            "Ich habe notiert, dass Sie mit dem Personal sprechen möchten. Wann das gelesen wird, weiß ich nicht. "
            "Wenn Sie schon bei uns sind, sprechen Sie bitte jemanden vom Team direkt an. Im Notfall: 112 (Schweiz: 144)."
        ),
        "staff_request": "Ich möchte mit dem Personal sprechen.",
        # On the page, buttons stand where the terminal has commands.
        "welcome_page": (
            "Guten Tag. Ich bin ein Programm und beantworte Fragen zu Ihrer Mammographie. "
            "Fragen Sie einfach, in Ihren eigenen Worten. Es gibt keine dummen Fragen."
        ),
        "help_page": (
            "Schreiben Sie Ihre Frage in eigenen Worten, oder wählen Sie unten eine aus. "
            "Unter jeder Antwort finden Sie eine einfachere Fassung und können sagen, ob sie Ihnen geholfen hat."
        ),
        "stop_page": "In Ordnung. Sie können jederzeit weiterfragen, oder unten das Gespräch beenden.",
        "interview_declined_page": "In Ordnung. Die Fragen der Radiologie finden Sie später weiter unten.",
        "interview_begin_page": (
            "Gut, ich stelle eine Frage nach der anderen. Antworten Sie in Ihren eigenen Worten, oder wählen Sie aus. "
            "Sie können Fragen überspringen, eine Pause machen und jederzeit selbst etwas fragen."
        ),
        "summary_check_page": "Stimmt alles? Sie können jede Antwort noch ändern.",
        "paused_page": "Gern. Ihre Antworten sind gespeichert. Sie können jederzeit weitermachen.",
    },
    "en": {
        "welcome": (
            "Hello. I am a computer program and I answer questions about mammograms. Just write what you would like to know."
        ),
        "emergency_notice": "Emergency? Call 112 (Switzerland: 144). Nobody reads this chat all the time.",
        "sample_label": "Sample content, not approved by a clinician",
        "clarify": "I am not sure what you mean. Did you mean one of these questions?",
        "none_of_these": "None of these",
        "none_chosen": "Thank you. I have noted your question for the team. Please feel free to ask it in other words.",
        "declined": (
            "I am sorry, I have no checked answer to that. I have noted your question for the team. "
            "Please ask at your appointment, or call the radiology department. "
            "You can also ask me something else, for example about the steps, pain, radiation or costs."
        ),
        "too_long": "Your message is too long for me. Please write your question in at most {limit} characters.",
        "greeting": "Hello! What would you like to know about your examination?",
        "thanks": "You are welcome. Do you have another question?",
        "stop": "All right. You can stop or go on asking at any time.",
        "ask_away": "Of course. Just write your question.",
        "go_on": (
            "Good. If it gets worse, call 112 at once (Switzerland: 144). What would you like to know "
            "about your examination?"
        ),
        "calmed": "Good. If it gets worse, call 112 at once (Switzerland: 144).",
        "all_right": "Of course. If you would like to know anything else, just ask.",
        "take_your_time": "Take your time. If you would like to know anything, just ask.",
        "refusal": "All right, that is up to you. If you would like to know anything, just ask.",
        "help_plain": (
            "Write your question in your own words, for example: Does it hurt? If an answer is too "
            "difficult, write: simpler."
        ),
        "empty": "I did not read anything. Just write your question.",
        "easy_intro": "In simpler words:",
        "easy_missing": "There is no simpler version of this answer.",
        "nothing_to_explain": "Ask a question first. Then I can explain the answer in simpler words.",
        "nothing_to_flag": "Ask a question first. Then you can report the answer.",
        "flagged": "Thank you for telling us. The team will look at this answer.",
        "help": (
            "Write your question in your own words. /easy: simpler answer. /flag: report the answer. /quit: leave."
        ),
        "goodbye": "Goodbye, and all the best for your examination.",
        "safe": "Something went wrong. Please ask the team of the radiology department.",
        "withdrawn": "This answer is no longer valid. Please ask again.",
        "you": "You",
        "choose": "Number or new question",
        "urgent": (
            "This sounds like an emergency. Call 112 now (Switzerland: 144), or shout for help. "
            "If you are already with us, tell the staff at once. Do not wait for this chat."
        ),
        "urgent_overdose": (
            "This sounds like poisoning. Call 112 now (Switzerland: 144). The poison centre helps too: "
            "Switzerland 145, Austria 01 406 43 43, Germany 030 19240. Keep the packet at hand. Do not wait for this chat."
        ),
        "urgent_suicide": (
            "I am sorry that you feel so bad. You do not have to be alone with this. Somebody listens day and night: "
            "Germany 0800 111 0 111 or 116 123, Austria 142, Switzerland 143. "
            "If you are in danger, call 112 now (Switzerland: 144)."
        ),
        "urgent_chest_pain": (
            "Pain or pressure in the chest can come from the heart. If it is strong now, feels tight, spreads to the arm or "
            "jaw, or you are short of breath: call 112 at once (Switzerland: 144)."
        ),
        "chest_question": "Do you have strong pain, pressure or tightness right now?",
        "chest_breast": "No, it is not an emergency",
        "staff_called": (
            "I have noted that you would like to speak to the staff. I do not know when this is read. "
            "If you are already with us, please speak to somebody from the team. In an emergency: 112 (Switzerland: 144)."
        ),
        "staff_request": "I would like to speak to the staff.",
        "welcome_page": (
            "Hello. I am a computer program and I answer questions about your mammogram. "
            "Just ask, in your own words. There are no silly questions."
        ),
        "help_page": (
            "Write your question in your own words, or choose one below. "
            "Under each answer you find a simpler version, and you can say whether it helped you."
        ),
        "stop_page": "All right. You can go on asking at any time, or end the conversation below.",
        "interview_declined_page": "All right. You find the questions of the radiology team further down, for later.",
        "interview_begin_page": (
            "Good, I will ask one question after the other. Answer in your own words, or choose. "
            "You can skip questions, take a break, and ask something yourself at any time."
        ),
        "summary_check_page": "Is everything right? You can still change each answer.",
        "paused_page": "Of course. Your answers are saved. You can go on at any time.",
    },
}

# The languages that patients can be talked to in.
LANGUAGES = tuple(INTERFACE_TEXTS)
