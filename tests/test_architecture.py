"""The structure that `docs/architecture.md` describes, checked on the source itself."""

import ast
from collections.abc import Iterator, Mapping, Set
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAX_LINES = 400

# Rules without I/O: they may import one another, but no adapter, no wiring and no edge.
PURE = (
    "bot.talk.messages",
    "bot.matching.emergency",
    "bot.talk.stored_reply",
    "bot.web.links",
    "bot.matching",
    "bot.matching.calibration",
    "bot.catalog.catalog",
    "bot.talk.messages",
    "bot.talk.dialogue",
    "bot.sentences.emergency_texts",
    "bot.errors",
    "bot.matching.explain",
    "bot.fhir_export",
    "bot.sentences.interface_texts",
    "bot.interview",
    "bot.sentences.interview_texts",
    "bot.outbox_ports",
    "bot.ports",
    "bot.outbox_ports",
    "bot.catalog.readability",
    "bot.sentences.reply",
    "bot.resources",
    "bot.assistant",
    "bot.settings",
    "bot.matching.red_flags",
    "bot.sentences.spelling",
    "bot.sentences.wording",
)
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

    assert {(module, name) for module, name in used if name != "bot"} == set()


def test_nothing_that_generates_text_is_imported_in_the_assistant() -> None:
    found = {
        (module, name)
        for module in BOT
        for name in _imports(module, everywhere=True)
        if any(_within(name, bad) for bad in GENERATORS)
    }

    assert found == {("bot.adapters.openai_encoder", "openai")}


def test_rules_import_rules_only() -> None:
    rules = [module for module in BOT if any(_within(module, pure) for pure in PURE)]
    used = {(module, name) for module in rules for name in _imports(module, everywhere=True) if name.startswith("bot.")}

    assert {(module, name) for module, name in used if not any(_within(name, pure) for pure in PURE)} == set()


def test_adapters_know_neither_wiring_nor_edges() -> None:
    outer = (
        "bot.wiring",
        "bot.assistant",
        "bot.talk.conversation",
        "bot.talk.interviewing",
        "bot.commands.main",
        "bot.commands.qa",
        "bot.commands.chat",
        "bot.web",
    )
    adapters = [module for module in BOT if _within(module, "bot.adapters")]
    used = {(module, name) for module in adapters for name in _imports(module, everywhere=True)}

    assert [(module, name) for module, name in used if any(_within(name, other) for other in outer)] == []


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
