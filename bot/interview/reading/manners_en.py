"""English ways to agree, to decline, not to know, to wrap up what one says, and to steer the interview: data only."""

from __future__ import annotations

from bot.interview.reading.compile_words import Compiler
from bot.interview.reading.tokens import fold_plain
from bot.interview.reading.vocabulary import Agreement, CommandWords, Frames, Silence

_EN = Compiler(fold_plain)
_words, _phrases = _EN.words, _EN.phrases

AGREEMENT = Agreement(
    yes=_phrases(
        """
        yes, ja, yeah, yea, yep, yup, ye, ya, yah, aye, y, ok, okay, sure, of course, correct, thats correct, right,
        thats right, exactly, true, thats true, indeed, absolutely, definitely, certainly, affirmative, agreed,
        i agree, i consent, fine, by all means, for sure, sure thing, yes please, yes indeed, thats it, spot on,
        very much so, you bet, totally, it is correct, it is right, that is correct, that is right, that is true
        """
    ),
    no=_phrases(
        """
        no, nein, nope, nah, na, nay, n, no way, no thanks, no thank you, wrong, thats wrong, false, incorrect,
        not correct, not true, not right, thats not right, thats not true, thats not correct, thats incorrect,
        negative, certainly not, absolutely not, definitely not, of course not, not at all, i disagree,
        i do not agree, i dont agree, by no means, that is wrong, that is not correct, that is not right,
        that is not true, is not correct, not a chance, sure not, surely not, obviously not, naturally not,
        clearly not, of course i dont, of course i do not, of course i havent, of course im not, of course i didnt,
        for sure not, most certainly not
        """
    ),
    plain_yes=_words("yes yeah yea yep yup y yah ja"),
    plain_no=_words("no nope nah n nein"),
    negators=_phrases(
        """
        not, no, never, none, nothing, never ever, neither, nor, without, no one, dont, doesnt, didnt, havent,
        hasnt, hadnt, isnt, wasnt, arent, werent, cant, cannot, wont, aint, not any, dont have any, do not,
        have not, am not, was not, did not, nobody, nowhere, couldnt, wouldnt, shouldnt, by no means
        """
    ),
    maybe_yes=_phrases(
        """
        i do, i did, i have, i am, i was, i think so, i believe so, i guess so, i suppose so, i suppose,
        probably, likely, most likely, mostly, i guess, rather yes, it does, they do, i had, yes i think,
        i would say so, id say so, so i think, i reckon so, it is, there is, there are, 👍, think so, guess so,
        believe so
        """
    ),
    maybe_no=_phrases(
        """
        not really, not that i know of, not that i know, not that im aware of, not that i am aware of,
        not to my knowledge, not as far as i know, i think not, i dont think so, i do not think so,
        dont think so, i dont believe so, probably not, i guess not, i suppose not, not yet, not anymore,
        not any more, no longer, not any longer, not currently, not now, not at the moment, not so far, i dont,
        i do not, i didnt, i did not, i havent, i have not, im not, i am not, i wasnt, i was not, i hadnt,
        rather not no, hardly, not that i can think of, not that i remember, not that i recall, unlikely,
        most likely not, it doesnt, it does not, it isnt, it is not, id say no, i would say no, 👎,
        nothing that i know of, none that i know of, none that im aware of, i dont reckon so, not for now,
        not knowingly, never that i know of, neither nor, neither of those, neither of them, neither one, no chance,
        god forbid, heaven forbid, never had one, ive never had one, i have never had one, i never had one,
        never had any, ive never had any, i have never had any, i never had any, never had it, no never,
        never have, i never have, never did, never been, never had that, nothing of the sort, nothing like that,
        not for ages, not for years, not in years, rather not
        """
    ),
    unclear=_phrases(
        """
        maybe, perhaps, possibly, sometimes, it depends, depends, occasionally, now and then, now and again,
        partly, in part, somewhat, sort of, kind of, a bit, a little, yes and no, could be, might be,
        it could be, more or less, from time to time, not always, not every year, not every time, not regularly,
        not necessarily, not quite, not entirely,
        not exactly, not only, not often, rarely, seldom, so so, maybe not, hm, hmm, in the past, yes in the past,
        in the past yes, used to, i used to, yes i used to, formerly, previously, yes previously, previously yes,
        formerly yes, yes formerly, i did once, once yes, yes once, years ago yes, back then, back then yes,
        no problem, no problems with that, no worries, no objection, no objections, i dont mind, dont mind,
        i do not mind, why not
        """
    ),
    but=_words("but only just though although except"),
    openers=_words(
        """
        oh ah uh um uhm er erm well so hm hmm now and but then please thanks thank you er ok okay like just thank
        god thankfully luckily fortunately unfortunately sadly goodness
        """
    ),
    first_person=_words("i im ive id"),
    exclamations=_phrases(
        """
        god, oh god, good god, dear god, heavens, good heavens, goodness, good lord, lord, goodness gracious,
        goodness me,
        touch wood, knock on wood, fingers crossed, thank god, thank goodness, thank heavens, for heavens sake,
        for gods sake, for goodness sake, blimey, gosh, good grief, christ, hell
        """
    ),
    often=_phrases(
        """
        regularly, yearly, every year, each year, every month, every time, annually, on a regular basis, many times,
        several times, a few times, loads of times, lots of times, lots of them, quite often, very often,
        again and again,
        every other year, every second year, every couple of years, every few years, time and again, constantly
        """
    ),
    always=_words("always"),
    attended=_words("went go gone going attended attend had have done did turned"),
    every=_words("every"),
    times=_words("times"),
    asks_leave=_phrases(
        """
        may we, may i, can we, could we, do you agree, do you consent, do you allow, do you give, are you happy for us,
        are you willing, are you ok with, is it ok if, is it okay if, is it all right if, is it alright if
        """
    ),
    leave=_phrases(
        """
        go ahead, go for it, go on then, go on, i dont mind, dont mind, i do not mind, dont mind at all, fine by me,
        fine with me, ok by me, okay by me, okay with me, ok with me, all right by me, alright, all right, thats fine,
        that is fine, its fine, thats ok, thats okay, thats alright, thats all right, if you must, if you have to,
        if you need to, if you like, if you want, if you want to, if it helps, be my guest, no problem,
        no problems with that, no problem at all, not a problem, no worries, no objection, no objections, no issue,
        no issues, whatever, whatever you like, whatever you need, i dont care, dont care, do not care,
        i couldnt care less,
        couldnt care less, you can, you may, you could, happy for you to, happy to, happy with that, i am happy,
        im happy,
        feel free, why not, suits me, works for me, doesnt bother me, does not bother me, doesnt matter, makes no odds,
        not bothered, im not bothered, all good, all fine, cant see why not, dont see why not, no reason why not,
        i see no reason why not, be fine, i suppose, i suppose so, suppose so, i allow it, allowed, granted,
        permission granted,
        you have my permission, nothing to hide, got nothing to hide, ive nothing to hide, thats what im here for,
        please do, do it, do what you like, fire away, crack on,
        knock yourself out, fair enough, all the same to me, makes no difference, no difference to me,
        dont see a problem,
        dont see any problem, see no problem, i wouldnt be here otherwise, otherwise i wouldnt be here,
        do what you want, do as you like, as you like, as you wish, as you please
        """
    ),
    no_leave=_phrases(
        """
        rather not, would rather not, id rather not, prefer not, prefer not to, id prefer not to, would prefer not to,
        please dont, not happy, not happy with that, im not happy, i am not happy, not comfortable,
        not comfortable with that,
        rather you didnt, rather you did not, you may not, you can not, you cant, you cannot, you could not,
        dont want that,
        i dont want that, i dont want you to, dont want you to, not with me, i object, i refuse, not on your life,
        hands off,
        better not, i do mind, i mind, rather you asked, rather you, in person, face to face, over my dead body,
        i am not willing, not allowed, dont you dare
        """
    ),
    meta=_words(
        """
        understand understood know get see want think believe remember recall follow hear find say read sure can
        could will would should must may might mean answer tell wish prefer care certain
        """
    ),
)

_PADDING = _words(
    """
    i it its im that this the a about of really honestly sorry just right now at moment exactly anymore any more
    actually well to be honest quite so very so afraid and but oh um uh er hmm hm for me ill id my myself
    precisely offhand therefore
    """
)

SILENCE = Silence(
    padding=_PADDING,
    dont_know=_phrases(
        """
        dont know, do not know, dont no, dunno, idk, no idea, have no idea, ive no idea, not sure, am not sure,
        unsure, not certain, no clue, have no clue, havent clue, havent got clue, cant remember,
        cannot remember, can not remember, dont remember, do not remember, dont recall, do not recall,
        cant recall, cannot recall, cant say, cannot say, couldnt say, could not say, couldnt tell you,
        cant tell you, who knows, forgot, have forgotten, ive forgotten, forget, i wouldnt know, wouldnt know,
        beats me, havent foggiest, would have to check, would have to ask, have to ask, need to ask, cant know,
        need to check, have to look up, am unsure, no memory,
        dont have idea, you tell me, ?, ??, ???
        """,
        without=_PADDING,
    ),
    refused=_phrases(
        """
        prefer not say, prefer not answer, id prefer not say, would prefer not say, would prefer not,
        prefer not, rather not, rather not say, rather not answer, would rather not, would rather not say,
        would rather not answer, dont want say, do not want say, dont want answer, do not want answer,
        dont want tell, dont want tell you, dont wish answer, do not wish answer, dont wish say, wont say,
        wont answer, will not answer, will not say, private, thats private, is private, personal, too personal,
        is too personal, thats personal, thats too personal, none your business, none of your business,
        no comment, not telling, not telling you, decline, decline answer, refuse, refuse answer,
        not your business, mind your own business, not saying, dont want share, not comfortable sharing,
        not comfortable answering, dont feel comfortable answering, dont want talk, keep private, will keep
        """,
        without=_PADDING,
    ),
    connecting=_words("and but so because cause cos since therefore as"),
    unknown_labels=_phrases("""
    unknown, is unknown, not known, asked but unknown, unsure, undetermined, dont know refused
    """),
)

_COMMAND_PADDING = _words(
    """
    please i want to would like id can could you we the a an now me let lets well so ok okay just wish need may
    this question thanks
    """
)

COMMANDS = CommandWords(
    padding=_COMMAND_PADDING,
    kinds={
        kind: _phrases(listed, without=_COMMAND_PADDING, telling=True)
        for kind, listed in {
            "back": """
            back, go back, previous, previous question, last question, the last question again, one back,
            go back one, back one, step back, go to the previous question, back to the last question,
            one step back, go back to the previous question, undo, last question again, go one back,
            take me back, return
            """,
            "skip": """
            skip, skip this, skip it, skip that, pass, next, next question, skip question, skip this one,
            leave it out, move on, go on to the next question, leave blank, leave it blank
            """,
            "why": """
            why, why do you ask, why are you asking, why do you need this, why do you need to know,
            why do you need that, why do you want to know, why is this important, what for, what is this for,
            why do you need to know that, why do you need to know this, why do you ask that,
            why do you ask this, why are you asking this, why are you asking me this, what do you need that for,
            why does it matter, what do you need this for, why does that matter, why ask, why is that important,
            whats that for, how come
            """,
            "help": """
            help, help me, i need help, ?, ??, ???, what should i do, what do i do, what do i type,
            how does this work, what can i say, what should i write, how do i answer
            """,
            "pause": """
            pause, later, stop, wait, not now, take a break, break, continue later, ill continue later,
            i will continue later, quit, exit, do this later, finish later, end, tomorrow, stop here,
            have a break, need a break, enough
            """,
            "resume": """
            continue, resume, carry on, go on, keep going, proceed, im back, i am back, lets go on,
            lets continue, ready to continue, im ready to continue, start again where we were
            """,
            "summary": """
            summary, show summary, overview, my answers, show my answers, show me my answers,
            what have i answered, what did i answer, what did i say, review, review my answers,
            what have you got so far, list my answers
            """,
            "repeat": """
            repeat, again, once more, one more time, say again, say that again, what, pardon, pardon me,
            what did you say, what was the question, what was that, repeat that, repeat the question,
            come again, excuse me, sorry what, sorry, what did you ask, can you say that again, ask again, huh,
            whats the question
            """,
        }.items()
    },
    change=_words("change correct edit fix update amend alter revise modify"),
    change_last=False,
    no_verb_before=_words("in of at on around since mind"),
    change_padding=_COMMAND_PADDING | _words("my answer answers entry about for on regarding"),
)

FRAMES = Frames(
    openers=_phrases(
        """
        my name is, my names, my name would be, the name is, the names, the name was, i am called, im called,
        they call me, people call me, you can call me, call me, my first name is, my last name is, my surname is,
        hes called, shes called, its called, it is called, he is called, she is called, my number is, the number is,
        my address is, the address is, i live in, i live at, my answer is
        """
    ),
    closers=_phrases(
        """
        is my name, is the name, is my number, is the number, is my address, is what im called, is what its called
        """
    ),
    named=_phrases("i am, im, this is"),
    pointing=_phrases(
        "it is, its, it was, this is, that is, thats, that was, that would be, it would be, here it is, heres"
    ),
    whose=_words("my the our"),
    verbs=_words("is was are would"),
    names=_words("name names called surname"),
    none=_phrases(
        """
        no, nope, none, nothing, i dont have one, i dont have any, i dont have that, i dont have it, dont have one,
        dont have any, dont have it, i do not have one, i do not have any, do not have one, havent got one,
        havent got any, i havent got one, i havent got any, i have none, have none, i have nothing, there is none,
        there isnt one, there is no such thing, there are none, no such thing, not applicable, n a, na, not any,
        doesnt apply, does not apply, i dont own one, not got one, ive not got one, ive got none, no i dont have one,
        no i dont, i dont, never had one, keine
        """
    ),
)
