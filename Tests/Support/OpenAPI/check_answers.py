"""Validates an OpenAPI description, and requests and answers against it.

usage: check_answers.py FILE

FILE is {"description": …, "answers": [{"method", "path", "status", "body", "request"}], "isWhole": …}, with paths as the description has
them. A request that was answered with 400 has to be wrong by the description, too, and every other one right. With isWhole, every status
and every member that is described has to be among the answers. Prints each problem in a line, and nothing where all is right.
"""

import json
import sys

from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator

with open(sys.argv[1], encoding="utf-8") as file:
    given = json.load(file)
description = given["description"]
seen = set()


def resolved(value):
    for part in value.get("$ref", "#").split("/")[1:]:
        value = description[part] if part == "components" else value[part]
    return value


def errors(schema, value):
    schema = {**schema, "components": description["components"]}
    return list(Draft202012Validator(schema, format_checker=FormatChecker()).iter_errors(value))


def members(schema, place, value=None):
    """The places of a schema's members; with a value, of those that the value has."""
    name, schema = schema.get("$ref", place).rsplit("/", 1)[-1], resolved(schema)
    for member, inner in schema.get("properties", {}).items():
        if value is None or isinstance(value, dict) and member in value:
            yield f"{name}.{member}"
            yield from members(inner, f"{name}.{member}", value and value[member])
    for element in [None] if value is None else value if isinstance(value, list) else []:
        if isinstance(schema.get("items"), dict):
            yield from members(schema["items"], name + "[]", element)


def described():
    """Every status, and every member of an answer."""
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            for status, response in operation["responses"].items():
                place = f"{method.upper()} {path} {status}"
                yield place
                for content in resolved(response).get("content", {}).values():
                    yield from members(content["schema"], place)


def problems(answer):
    place = f"{answer['method']} {answer['path']} {answer['status']}"
    operation = description["paths"].get(answer["path"], {}).get(answer["method"].lower())
    if operation is None:
        yield f"{place}: not described"
        return
    response = operation["responses"].get(str(answer["status"])) or operation["responses"].get(f"{answer['status'] // 100}XX")
    if response is None:
        yield f"{place}: the status is not described"
        return
    seen.add(place)
    content = resolved(response).get("content", {})
    try:
        body = json.loads(answer["body"])
    except ValueError:
        if set(content) == {"application/json"} or answer["body"] and not content:
            yield f"{place}: the body is no JSON"
        body = None
    if body is not None and "application/json" not in content:
        yield f"{place}: the body is JSON, and not described as such"
    elif body is not None:
        schema = content["application/json"]["schema"]
        seen.update(members(schema, place, body))
        for error in errors(schema, body):
            yield f"{place}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"
    if answer.get("request", "").strip() and "requestBody" in operation:
        found = errors(operation["requestBody"]["content"]["application/json"]["schema"], json.loads(answer["request"]))
        if bool(found) != (answer["status"] == 400):
            yield f"{place}: the request {answer['request']} is described otherwise: {found}"


for error in OpenAPIV31SpecValidator(description).iter_errors():
    print(f"description: {'/'.join(map(str, error.absolute_path))}: {error.message}")
for answer in given["answers"]:
    for problem in problems(answer):
        print(problem)
if given.get("isWhole"):
    for place in sorted(set(described()) - seen):
        print(f"{place}: described, and not sent")
