# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The schemas in doc/schemas of what --json prints."""

import json

import jsonschema

from fabric_sim import SOURCE

FOLDER = SOURCE / "doc" / "schemas"


def schema_of(command):
    """The schema of a command such as "ar plan"."""
    return json.loads((FOLDER / f"heddle-{command.replace(' ', '-')}.json").read_text())


def closed(schema):
    """The same schema without room for keys that it does not name. The files leave that room, because
    later versions may print more."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        found["additionalProperties"] = False
    return found


def branch_of(schema, document):
    """The part of a schema with if, then and else that is for this document; else all of it."""
    if "if" not in schema:
        return schema
    fits = jsonschema.Draft7Validator(schema["if"]).is_valid(document)
    return schema["then" if fits else "else"]


def validate(command, document):
    """Fails if the document is not as its schema says, or has keys that the schema does not name."""
    jsonschema.Draft7Validator(closed(schema_of(command))).validate(document)
    return document
