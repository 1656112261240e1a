"""Faults that show in the text of a room's sources: branches that the compiler skips, undeclared modules, a lock taken twice."""

import re

from toolchain import SDK, HERE

# Modules of other systems, and those of players that exist on no platform of this check. Their `canImport` is false, as on a Mac.
ELSEWHERE = {"FoundationNetworking", "FoundationXML", "Glibc", "Musl"}
CAN_IMPORT = re.compile(r"\bcanImport\((\w+)")
CONDITION = re.compile(r"^([ \t]*#(?:else)?if\b)(.*)$", re.M)
SKIPPED = re.compile(r"targetEnvironment\(simulator\)|compiler\(>=\s*([\d.]+)\)")
FUNCTION = re.compile(r"\bfunc (\w+)[^{}]*\{")
TAKEN = re.compile(r"\b((?:\w+\.)*\w+)\.withLock(?:Unchecked)?\s*\{")
# Blocks that run later, as far as one can see: tasks, and closures that capture something by a list.
LATER = re.compile(r"(?:\bTask\b[^{}\n]*|\.async\b[^{}\n]*)\{|\{(?=\s*\[[^\]]*\]\s*(?:\w+(?:\s*,\s*\w+)*\s+)?in\b)")
# Comments and texts of one line, in which a brace says nothing.
WORDLESS = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')


def declared(rooms):
    """The modules that some platform of the check has."""
    found = {folder.stem for folder in SDK.glob("Frameworks/*.framework")}
    found |= {file.stem for pattern in ("Interfaces/*", "Players/*/*") for file in HERE.glob(pattern)}
    return found | {room.module for room in rooms} | ELSEWHERE


def undeclared(file, known):
    """Conditions on a module that is declared nowhere: the code that they guard would be skipped silently."""
    for number, line in enumerate(file.read_text().splitlines(), 1):
        for module in CAN_IMPORT.findall(line):
            if module not in known:
                yield f"{file}:{number}:1: error: {module} is not declared in Scripts/Apple, so nobody compiles what is behind its canImport"


def taken_twice(file):
    """Closures of `lock.withLock` in which the same lock is taken again, there or by a function of the same file: that never ends. Calls are
    followed one step, if nothing precedes the name; blocks that run later are left out."""
    text = WORDLESS.sub(lambda match: " " * len(match[0]), file.read_text())
    taken = [(match[1].removeprefix("self."), match.start(), _end(text, match.end())) for match in TAKEN.finditer(text)]
    later = [(match.start(), _end(text, match.end())) for match in LATER.finditer(text)]
    takers = {}
    for match in FUNCTION.finditer(text):
        end = _end(text, match.end())
        takers.setdefault(match[1], set()).update(name for name, start, _ in taken if match.end() < start < end)
    for name, start, end in taken:
        again = [other for other_name, other, _ in taken if other_name == name and start < other < end]
        calls = re.finditer(r"(?:\bself\.|(?<![.\w]))(\w+)\(", text[start:end])
        again += [start + call.start() for call in calls if name in takers.get(call[1], ())]
        for place in again:
            if any(start < begin < place < finish for begin, finish in later):
                continue
            yield f"{file}:{text.count(chr(10), 0, place) + 1}:1: error: {name} is locked here already"


def _end(text, start):
    """Where the block ends whose brace opens before `start`."""
    depth = 1
    for index in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if not depth:
            return index
    return len(text)


def with_skipped_branches(text, version):
    """The text with the branches that this platform and a compiler of this version leave out: a simulator's, a newer compiler's."""

    def turned(match):
        newer = match[1] and [int(part) for part in match[1].split(".")] > version
        return "canImport(Swift)" if newer or not match[1] else match[0]

    return CONDITION.sub(lambda match: match[1] + SKIPPED.sub(turned, match[2]), text)
