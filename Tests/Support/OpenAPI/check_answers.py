"""Validates an OpenAPI description, and answers against it.

usage: check_answers.py FILE

FILE is {"description": …, "answers": [{"method", "path", "status", "body"}]}, with paths as the description has them. Prints each problem
in a line, and nothing where all is right.
"""

import json
import sys

from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator


def problems(description, answers):
    for error in OpenAPIV31SpecValidator(description).iter_errors():
        yield f"description: {'/'.join(map(str, error.absolute_path))}: {error.message}"
    for answer in answers:
        place = f"{answer['method']} {answer['path']} {answer['status']}"
        operation = description["paths"].get(answer["path"], {}).get(answer["method"].lower())
        if operation is None:
            yield f"{place}: not described"
            continue
        responses = operation["responses"]
        response = responses.get(str(answer["status"])) or responses.get(f"{answer['status'] // 100}XX")
        if response is None:
            yield f"{place}: the status is not described"
            continue
        if "$ref" in response:
            response = description["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
        content = response["content"]
        try:
            body = json.loads(answer["body"])
        except ValueError:
            if set(content) == {"application/json"}:
                yield f"{place}: the body is no JSON"
            continue
        if "application/json" not in content:
            yield f"{place}: the body is JSON, and not described as such"
            continue
        schema = {**content["application/json"]["schema"], "components": description["components"]}
        for error in Draft202012Validator(schema, format_checker=FormatChecker()).iter_errors(body):
            yield f"{place}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"


with open(sys.argv[1], encoding="utf-8") as file:
    given = json.load(file)
for problem in problems(given["description"], given["answers"]):
    print(problem)
