"""The structure that `docs/architecture.md` describes, checked on the source itself."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAX_LINES = 400

# Rules without I/O: they may import one another, but no adapter, no wiring and no edge.
PURE = (
    "bot.kept",
    "bot.links",
    "bot.matching",
    "bot.calibration",
    "bot.catalog",
    "bot.acknowledgement",
    "bot.dialogue",
    "bot.emergency_texts",
    "bot.errors",
    "bot.explain",
    "bot.fhir_export",
    "bot.interface_texts",
    "bot.interview",
    "bot.interview_texts",
    "bot.ports",
    "bot.pseudonym",
    "bot.readability",
    "bot.reply",
    "bot.resources",
    "bot.response",
    "bot.retention",
    "bot.safety",
    "bot.spelling",
    "bot.wording",
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


def _imports(module: str, *, everywhere: bool) -> set[str]:
    """Return what a module imports: everywhere in it, or only when it is loaded."""
    tree = ast.parse(ALL[module].read_text(encoding="utf-8"))
    nodes = ast.walk(tree) if everywhere else _at_load(tree)
    return {target for node in nodes for target in _targets(node, module)}


def _at_load(tree: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        yield child
        checked_only = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not checked_only:
            yield from _at_load(child)


def _within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def test_there_is_something_to_check() -> None:
    assert {"bot.cli", "bot.matching.decide", "harness.cli"} <= set(ALL)
    assert "bot.wiring" in _imports("bot.assistant", everywhere=False)
    assert "bot.chat" not in _imports("bot.cli", everywhere=False)
    assert "bot.chat" in _imports("bot.cli", everywhere=True)


@pytest.mark.parametrize("module", BOT)
def test_the_assistant_never_imports_the_harness(module: str) -> None:
    assert not [name for name in _imports(module, everywhere=True) if _within(name, "harness")]


@pytest.mark.parametrize("module", HARNESS)
def test_the_harness_enters_the_assistant_by_its_front_door_only(module: str) -> None:
    used = {name for name in _imports(module, everywhere=True) if _within(name, "bot")}

    assert used <= {"bot"}


@pytest.mark.parametrize("module", BOT)
def test_nothing_that_generates_text_is_imported_in_the_assistant(module: str) -> None:
    found = {name for name in _imports(module, everywhere=True) for bad in GENERATORS if _within(name, bad)}

    assert found == ({"openai"} if module == "bot.adapters.openai_encoder" else set())


@pytest.mark.parametrize("module", [module for module in BOT if any(_within(module, pure) for pure in PURE)])
def test_rules_import_rules_only(module: str) -> None:
    used = {name for name in _imports(module, everywhere=True) if _within(name, "bot") and name != "bot"}

    assert {name for name in used if not any(_within(name, pure) for pure in PURE)} == set()


@pytest.mark.parametrize("module", [module for module in BOT if _within(module, "bot.adapters")])
def test_adapters_know_neither_wiring_nor_edges(module: str) -> None:
    outer = (
        "bot.wiring",
        "bot.assistant",
        "bot.conversation",
        "bot.interviewing",
        "bot.cli",
        "bot.qa_cli",
        "bot.chat",
        "bot.web",
    )

    assert not [name for name in _imports(module, everywhere=True) for other in outer if _within(name, other)]


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {module: _imports(module, everywhere=False) & set(ALL) - {module} for module in ALL}
    finished: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        if module not in finished:
            for other in sorted(graph[module]):
                visit(other, (*path, module))
            finished.add(module)

    for module in graph:
        visit(module, ())
    assert finished == set(ALL)


@pytest.mark.parametrize("module", ALL)
def test_no_file_is_too_long_to_read_in_one_sitting(module: str) -> None:
    assert len(ALL[module].read_text(encoding="utf-8").splitlines()) <= MAX_LINES


def test_the_folder_of_fhir_data_does_not_hide_the_library() -> None:
    assert not list((ROOT / "fhir").glob("**/__init__.py"))


@pytest.mark.parametrize("module", ALL)
def test_every_module_says_what_it_is_for(module: str) -> None:
    source = ALL[module].read_text(encoding="utf-8")

    assert not source.strip() or ast.get_docstring(ast.parse(source))
