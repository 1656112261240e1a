"""The scripts' common parts: the repository, their command lines, and how they report their findings."""
import argparse
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = os.path.basename(sys.argv[0])


def listed():
    """The repository's files, including files that are not added yet."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in names.split("\0") if name and os.path.lexists(ROOT / name)]


def texts(*patterns):
    """The texts of the files that match, by their paths."""
    return {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for pattern in patterns for file in sorted(ROOT.glob(pattern)) if file.is_file()}


def script(name):
    """Another script, as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(ROOT / "Scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def package(*words, shape=None, folder=ROOT):
    """What swift says of the package, in one shape of its manifest."""
    environment = {**os.environ, **({"LATCHKEY_SHAPE": shape} if shape else {})}
    environment.pop("LATCHKEY_TESTS", None)
    return json.loads(subprocess.run(["swift", "package", *words], cwd=folder, env=environment, check=True, stdout=subprocess.PIPE).stdout)


# Command lines


def arguments(doc, bin_folder=None, programs=()):
    """A parser, with --bin where there is a usual folder for it. Where one of the programs is not in it the script ends with 2."""
    def folder(text):
        for name in programs:
            if not os.access(os.path.join(text, name), os.X_OK):
                print(f"Missing: {os.path.join(text, name)}; run: make release", file=sys.stderr)
                sys.exit(2)
        return os.path.abspath(text)
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if bin_folder:
        parser.add_argument("--bin", default=bin_folder, type=folder, help="where latchkey and latchkey-server are")
    return parser


def cores(text):
    return [int(core) for core in text.split(",")]


def start(doc, check, self_test, takes=lambda words: not words):
    """Runs a check with the words that it takes, or its self-test with --self-test, and ends with its status."""
    words = sys.argv[1:]
    if words == ["--self-test"]:
        sys.exit(self_test())
    if not takes(words):
        print(doc.strip(), file=sys.stderr)
        sys.exit(2)
    sys.exit(check(*words))


# Findings


def finish(problems, bad=None, good=None, prefix=""):
    """Prints problems, then how many there are, or that there are none. Gives the exit status."""
    problems = list(problems)
    for problem in problems:
        print(prefix + problem, file=sys.stderr)
    if problems and bad:
        print(f"{NAME}: {bad.format(len(problems))}", file=sys.stderr)
    if not problems and good:
        print(f"{NAME}: {good}")
    return 1 if problems else 0


def fits(found, wanted):
    """Whether one problem has these words, or, for a list, each problem has its words and there are no others."""
    if isinstance(wanted, str):
        return any(wanted in problem for problem in found)
    return len(found) == len(wanted) and all(words in problem for words, problem in zip(wanted, found))


def judged(cases):
    """Ends a self-test. A case has the actual and the expected findings."""
    if fits(["one"], []) or fits([], "one") or fits(["one"], ["two"]):
        sys.exit("a self-test that judges nothing")
    cases = [(list(found), wanted) for found, wanted in cases]
    failures = [f"wanted {wanted}, found {found}" for found, wanted in cases if not fits(found, wanted)]
    finish(failures, good=f"judged {len(cases)} of {len(cases)} cases as it should.", prefix=f"{NAME}: ")
    return 1 if failures else 0
