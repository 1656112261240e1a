"""Pages whose blocks are run: a page's instructions to its runner, in comments that its readers do not see.

In front of a block, any number, each on its own line:

  <!-- not run: REASON -->       the block is not run
  <!-- file: NAME -->            the block is a file
  <!-- into: FILE PLACE -->      the block's members are members of a JSON file, at a place such as tenants.demo; without one, at its top
  <!-- without: NAME NAME -->    members that the JSON file does not have any more
  <!-- where: WORD is COMMAND -->  a placeholder for the reader's value: WORD is replaced by the output of COMMAND
  <!-- shows: A | B -->          the output has A and B, as the page has told its readers
  <!-- fails -->                 the block's last command says no
  <!-- within: SECONDS -->       the block is run again until it shows the expected output
  <!-- needs: PROGRAM -->        the block is run if the program is there, such as another version's
  <!-- serves: PORT -->          the block's last line keeps running; the block is over when PORT has /readyz

Anywhere, and done where it stands:

  <!-- page: begins with ENGINE, ENGINE -->   postgresql, redis
  <!-- do: WHAT WHOM -->         start, stop, kill, hang or resume; WHOM is an engine, or server, the newest that serves, or
                                 servers, all of them
  <!-- do: former WHOM -->       the tables of `latchkey`, or of a SQLite file, become those of version 1

A block of `sh` needs no comment. One of `text` behind it is the output: each line in this order, … for anything. Any other block needs `file`,
`into` or `not run`.
"""
import json
import re

COMMENT = re.compile(r"\s*<!-- ([a-z ]+)(?:: (.*))? -->$")
BEFORE = {"not run", "file", "into", "without", "where", "shows", "fails", "within", "serves", "needs"}
ANYWHERE = {"page", "do"}
# Between these, latchkey-bench writes its figures.
BENCH = re.compile(r"<!-- (bench(: .*)?|/bench) -->$")


class PageError(Exception):
    """A page that cannot be run, or that does not say what happens."""


class Step:
    """A block, or something to do, with the page's line."""

    def __init__(self, number, kind, text="", notes=()):
        self.number, self.kind, self.text, self.notes, self.expected = number, kind, text, list(notes), None

    def note(self, name):
        return next((value for key, value in self.notes if key == name), None)

    def has(self, name):
        return any(key == name for key, _ in self.notes)

    def all(self, name):
        return [value for key, value in self.notes if key == name]


def steps(text):
    """The steps of a page.
    Raises PageError for a block that nothing says what to do with.
    """
    found, notes, fence, said = [], [], None, "\n".join(line for line in text.splitlines() if not COMMENT.match(line))
    for number, line in enumerate(text.splitlines(), 1):
        comment = COMMENT.match(line)
        if fence:
            if line.strip() == "```":
                finish(found, fence, said)
                fence = None
            else:
                fence.text += line + "\n"
        elif line.startswith("```"):
            fence, notes = Step(number, line[3:].strip(), "", notes), []
        elif comment and comment[1] in BEFORE:
            notes.append((comment[1], comment[2] or ""))
        elif comment and comment[1] in ANYWHERE:
            found.append(Step(number, comment[1], comment[2] or ""))
        elif line.lstrip().startswith("<!--") and not BENCH.match(line):
            raise PageError(f"line {number}: this comment says nothing to the runner")
        elif line.strip() and notes:
            raise PageError(f"line {number}: a comment for a block, and no block behind it")
    if fence:
        raise PageError(f"line {fence.number}: a block without an end")
    return found


def finish(found, block, said):
    if block.kind == "text" and not block.notes:
        if not found or found[-1].kind != "sh" or found[-1].has("not run"):
            raise PageError(f"line {block.number}: nothing that ran comes before what comes out")
        found[-1].expected = block.text
        return
    for value in block.all("shows"):
        for part in value.split(" | "):
            if part not in said:
                raise PageError(f"line {block.number}: the page does not say “{part}” to its readers")
    if block.has("not run") and not block.note("not run").strip():
        raise PageError(f"line {block.number}: not run without a reason")
    if block.kind != "sh" and not any(block.has(name) for name in ("not run", "file", "into")):
        raise PageError(f"line {block.number}: nothing says what to do with this block: file, into, or not run")
    found.append(block)


def missing(expected, output):
    """The first line that should have come out and did not; None if all did."""
    place = 0
    for line in expected.splitlines():
        words = " ".join(line.split())
        if not words:
            continue
        pattern = r"[^\n]*?".join(re.escape(part) for part in words.split("…")).replace(r"\ ", r"[ \t]+")
        match = re.compile(pattern).search(output, place)
        if not match:
            return line.strip()
        place = match.end()
    return None


def merged(document, place, fragment, without=()):
    """A document with a fragment's members at a place, and without others."""
    fragment = fragment.strip()
    added = json.loads(fragment if fragment.startswith("{") else "{" + fragment + "}")
    part = document
    for name in [name for name in place.split(".") if name]:
        part = part.setdefault(name, {})
    lay(part, added)
    for name in without:
        del part[name]
    return document


def lay(below, above):
    for name, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(name), dict):
            lay(below[name], value)
        else:
            below[name] = value
