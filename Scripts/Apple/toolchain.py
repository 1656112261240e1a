"""The toolchain's own frontend, and the folder of the check's products."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / ".build" / "apple"
RESOURCES = WORK / "resources"
CACHE = WORK / "cache"
SDK = HERE / "SDK"
FEATURES = ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault"]


class Refusal(Exception):
    """What keeps the check from running, in one sentence for whoever started it."""


class Toolchain:
    def __init__(self):
        try:
            answer = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise Refusal(f"swiftc cannot be run: {error}")
        info = json.loads(answer.stdout)
        self.version = info["compilerVersion"]
        self.number = [int(part) for part in re.search(r"Swift version ([\d.]+)", self.version)[1].split(".")]
        self.triple = info["target"]["moduleTriple"]
        self.runtime = pathlib.Path(info["paths"]["runtimeResourcePath"])
        self.programs = self.runtime.parent.parent / "bin"
        self.interfaces = self.runtime.parent / "swift_static" / "linux"
        if not self.interfaces.is_dir():
            raise Refusal(f"no interfaces of a Linux toolchain in {self.interfaces}. On a Mac, build the package with Xcode instead.")

    def interface(self, module):
        """The textual interface of one of the toolchain's modules."""
        return (self.interfaces / f"{module}.swiftmodule" / f"{self.triple}.swiftinterface").read_text()

    def prepare(self):
        """The resource folder: the toolchain's headers, and next to them the modules that the check builds."""
        RESOURCES.mkdir(parents=True, exist_ok=True)
        for name in ("shims", "clang", "apinotes"):
            link = RESOURCES / name
            if not link.is_symlink() and (self.runtime / name).exists():
                link.symlink_to(self.runtime / name)

    def frontend(self, arguments, timeout=900):
        """Runs the frontend; gives its exit status and its diagnostics."""
        command = [str(self.programs / "swift-frontend"), *map(str, arguments), "-diagnostic-style", "llvm"]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            return 124, f"error: the frontend took more than {timeout} seconds"
        return answer.returncode, answer.stdout + answer.stderr


def search(target):
    """The flags that every call for one target has."""
    return [
        "-target", target, "-resource-dir", RESOURCES, "-sdk", SDK, "-module-cache-path", CACHE,
        "-I", RESOURCES / "shims", "-I", SDK / "include", "-F", SDK / "Frameworks",
    ]


def diagnostics(text):
    """The errors and warnings in the frontend's output, each once, with paths from the repository's root."""
    lines = [line for line in text.splitlines() if re.search(r"(^|\s)(error|warning): ", line)]
    return sorted({line.replace(f"{ROOT}{os.sep}", "") for line in lines})


def digest(*parts):
    """A name for what something was built from: texts, and files and folders by their content."""
    hashed = hashlib.sha256()
    for part in parts:
        if isinstance(part, pathlib.Path):
            for file in sorted(part.rglob("*")) if part.is_dir() else [part]:
                if file.is_file():
                    hashed.update(file.relative_to(HERE).as_posix().encode() + b"\0" + file.read_bytes())
        else:
            hashed.update(str(part).encode() + b"\0")
    return hashed.hexdigest()


def is_current(product, stamp):
    """Whether a product exists and was made from the inputs that the stamp names."""
    note = product.with_suffix(".stamp")
    return product.exists() and note.exists() and note.read_text() == stamp


def note_current(product, stamp):
    product.with_suffix(".stamp").write_text(stamp)


def say(text):
    print(text, flush=True)


def fail(text):
    print(f"check-apple: {text}", file=sys.stderr, flush=True)
