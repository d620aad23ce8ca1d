"""Validates JSON documents against a JSON Schema: validate_json.py SCHEMA FILE...

Every object that the schema describes is closed first, so that a member that is written and not described is
found too. Says what does not fit as FILE: PLACE: WHY. Exit status: 0 all fit, 1 some do not, 77 there is no
validator on this machine.
"""

import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("python3-jsonschema with draft 2020-12 is not there")
    sys.exit(77)


def closed(schema):
    """The schema without members that it does not name."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {name: closed(value) for name, value in schema.items()}
    if schema.get("type") == "object" and "additionalProperties" not in schema:
        copy["unevaluatedProperties"] = False
    return copy


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(closed(schema))
    fits = True
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as file:
            document = json.load(file)
        for error in validator.iter_errors(document):
            fits = False
            print(f"{name}: {error.json_path}: {error.message[:200]}")
    sys.exit(0 if fits else 1)


main()
