"""Makes the tables of a store those of version 1, as Tests/StoresTests/Support/FormerSchemas.swift has them, with the rows that are there."""
import os
import re
import subprocess

SCHEMAS = f"{os.path.dirname(os.path.abspath(__file__))}/../../Tests/StoresTests/Support/FormerSchemas.swift"


def literals(name):
    """The texts of a constant of FormerSchemas."""
    with open(SCHEMAS, encoding="utf-8") as file:
        text = re.sub(r"(?m)^\s*//.*$", "", file.read())
    text = text[text.index(f"static let {name} ="):]
    text = text[:re.search(r"\n    static let |\n}\n", text[1:]).start() + 1]
    return [long or short for long, short in re.findall(r'"""\n(.*?)\n\s*"""|"([^"\n]*)"', text, re.S)]


def psql(environment, database, *words, given=None):
    run = subprocess.run(
        ["psql", "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", "latchkey", *words, database], env=environment,
        input=given, capture_output=True, text=True)
    if run.returncode:
        raise ValueError(run.stderr)
    return run.stdout


def tables(environment, database):
    run = subprocess.run(
        ["pg_dump", "-h", "127.0.0.1", "-U", "latchkey", "--schema-only", "--schema=latchkey", database], env=environment, capture_output=True, text=True,
        check=True)
    return [line for line in run.stdout.splitlines() if line and not line.startswith(("--", "\\"))]


def make_former_postgresql(environment):
    """Removes the additions of later versions from the database `latchkey`. Returns the differences from version 1, or None."""
    psql(environment, "latchkey", given="""
        DROP FUNCTION latchkey.set_key_aside; DROP TABLE latchkey.former_keys, latchkey.identity, latchkey.blocks; UPDATE latchkey.schema SET version = 1, oldest = 1;
        ALTER TABLE latchkey.records DROP COLUMN counted, DROP COLUMN counted_of;
        DROP FUNCTION latchkey.make_record_day, latchkey.drop_record_days, latchkey.keep_record_days, latchkey.erase_record_account;
        DROP TABLE latchkey.license_records, latchkey.record_positions, latchkey.record_retention, latchkey.record_erasures;
        DROP FUNCTION latchkey.rebuild_rollups, latchkey.keep_rollups, latchkey.raised;
        DROP TABLE latchkey.rollups, latchkey.sketches, latchkey.rollup_state; DROP FUNCTION latchkey.roll_up;
        """)
    subprocess.run(["createdb", "-h", "127.0.0.1", "-U", "latchkey", "former"], env=environment, check=True, capture_output=True)
    psql(environment, "former", given=";\n".join(literals("postgreSQL1")))
    found, wanted = (tables(environment, name) for name in ["latchkey", "former"])
    return None if found == wanted else f"these are no tables of version 1: {sorted(set(found) ^ set(wanted))}"


def make_former_sqlite(path):
    """The same for a file."""
    def run(name, sql):
        return subprocess.run(["sqlite3", name], input=sql, capture_output=True, text=True, check=True).stdout
    run(path, """
        DROP TABLE former_keys; DROP TABLE identity; DROP TABLE blocks; DROP TABLE log; DROP TABLE log_before; DROP TABLE counts; DROP INDEX records_uncounted;
        ALTER TABLE records DROP COLUMN counted; PRAGMA user_version = 1;
        """)
    found = run(path, ".schema")
    wanted = run(":memory:", "".join(literals("sqlite1")) + "\n.schema\n")
    words = [" ".join(text.split()) for text in (found, wanted)]
    return None if words[0] == words[1] else f"these are no tables of version 1: {found} {wanted}"
