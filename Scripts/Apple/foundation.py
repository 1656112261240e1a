"""The Swift half of Foundation: the Linux toolchain's print of FoundationEssentials, which carries the availability of Apple's
platforms, as far as the rooms use it, and `Interfaces/Foundation.swiftinterface` for Apple's additions."""

import pathlib
import re
import subprocess
import tempfile

from toolchain import HERE, Refusal

# The declarations taken over, with the extensions of each.
WANTED = set(
    """Data Date URL UUID URLComponents URLQueryItem JSONDecoder JSONEncoder TimeZone Locale CocoaError LocalizedError DataProtocol
    MutableDataProtocol ContiguousBytes TimeInterval uuid_t uuid_string_t Calendar DateComponents DateInterval FormatStyle
    ParseStrategy ParseableFormatStyle Decimal IndexPath DecodableWithConfiguration EncodableWithConfiguration
    DecodingConfigurationProviding EncodingConfigurationProviding""".split()
)
LEFT_OUT = ("Calendar.RecurrenceRule", "URL.Template")
EXTENDED = {"String", "StringProtocol", "Array", "ArraySlice", "ContiguousArray"}
# Types that interfaces of this toolchain print and Apple's Foundation does not have, or that need more than is declared here.
UNDECLARED = re.compile(r"Span\b|AttributedString|VariableName")

DECLARATION = re.compile(r"\b(struct|class|enum|protocol|typealias|func|var|let) (\w+)")
EXTENSION = re.compile(r"\bextension ([\w.]+)")
ATTRIBUTE = re.compile(r"^\s*@\w+(\(.*\))?\s*$")
# The printer leaves attributes with an underscore out; these overloads yield to the other.
DISFAVORED = re.compile(r"^(\s*)(?=public init<T, Value>\(_ value: Value, strategy: T\))", re.M)
SUBSCRIPT = re.compile(r"^(\s*(?:@\w+(?:\(.*?\))? )*(?:public |open |final )+subscript[^{\n]*)$", re.M)


def foundation(toolchain):
    """The text of the interface, without its header."""
    printed = _printed(toolchain, "FoundationEssentials")
    taken = [block for block in map(_renamed, _blocks(printed)) if _is_wanted(block)]
    text = SUBSCRIPT.sub(r"\1 { get set }", "\n".join(taken))
    text = DISFAVORED.sub(r"\1@_disfavoredOverload ", text)
    for word in ("@inlinable ", "internal(set) ", "private(set) "):
        text = text.replace(word, "")
    return "\n".join(_declared(text)) + "\n" + (HERE / "Interfaces" / "Foundation.swiftinterface").read_text()


def _printed(toolchain, module):
    with tempfile.NamedTemporaryFile(suffix=".swift") as file:
        command = [
            toolchain.programs / "swift-synthesize-interface", "-module-name", module, "-target", toolchain.triple,
            "-I", toolchain.runtime / "linux", "-o", file.name,
        ]
        answer = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if answer.returncode:
            raise Refusal(f"the toolchain does not print {module}: {answer.stderr.strip()[:200]}")
        text = pathlib.Path(file.name).read_text()
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def _blocks(text):
    """The declarations at the top level, each with its attributes."""
    depth, block, blocks = 0, [], []
    for line in text.split("\n"):
        if not line.strip() or line.strip().startswith(("//", "*", "/*")):
            continue
        block.append(line)
        code = re.sub(r'"(\\.|[^"\\])*"', "", re.sub(r"//.*", "", line))
        depth += code.count("{") - code.count("}")
        if depth == 0 and not ATTRIBUTE.match(line):
            blocks.append("\n".join(block))
            block = []
    return blocks


def _renamed(block):
    return block.replace("FoundationEssentials.", "Foundation.")


def _is_wanted(block):
    for line in block.split("\n"):
        extension = EXTENSION.search(line)
        if extension and not DECLARATION.search(line[: extension.start()]):
            return _is_wanted_extension(extension.group(1))
        declaration = DECLARATION.search(line)
        if declaration:
            return declaration.group(2) in WANTED
    return False


def _is_wanted_extension(name):
    name = re.sub(r"^(Foundation|Swift)\.", "", name)
    return name.split(".")[0] in WANTED | EXTENDED and not name.startswith(LEFT_OUT)


def _declared(text):
    """The lines without members of undeclared types, whose attributes go with them."""
    lines = []
    for line in text.split("\n"):
        if UNDECLARED.search(line) and not line.startswith(("extension", "public struct")):
            while lines and ATTRIBUTE.match(lines[-1]):
                lines.pop()
            continue
        lines.append(line)
    return lines
