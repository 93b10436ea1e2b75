# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The tables that the facts of the engines decide, from `heddle engines --json`.

In a man page `.\\" BEGIN NAME` and `.\\" END NAME` mark the place of a table, in README.md
`<!-- BEGIN NAME` and `<!-- END NAME`, in heddle.conf.example `# BEGIN NAME` and `# END NAME`.
"""
import json
import subprocess
import textwrap


def roman(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def sentence(text):
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def enumeration(names):
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def fabrics(engine):
    kind = "fat trees" if engine["needs_tree"] else "tori and meshes" if engine["needs_grid"] else None
    return f"{kind}; others are refused" if kind else "all"


def lanes(engine):
    if engine["needs_grid"]:
        return "two on rings; rarely three"
    return "one" if engine["one_lane"] else "those that there are" if engine["own_lanes"] else "as many as needed"


def facts(engine):
    """(title, text) of each fact of an engine."""
    used = [policy["name"] for policy in engine["policies"] if policy["used"]]
    yield "Fabrics", fabrics(engine)
    yield "Virtual lanes", lanes(engine)
    yield "Paths", ("all are shortest paths" if engine["shortest_paths"] else
                    "some can be longer than the shortest")
    kept = "entries for a LID change only if one of them has lost its link"
    yield "After a change", kept + ("" if engine["keeps_entries"] else
                                    ", as long as the levels of the tree stay the same")
    yield "Options of opensm.conf", enumeration(used)


def fact_lines(engine):
    """The description and the facts of an engine, for its section in a man page."""
    lines = [".PP", roman(engine["description"])]
    for title, text in facts(engine):
        lines += [".TP", f".B {roman(title)}", roman(text)]
    return lines


def policies(engines):
    """(name, summary, names of the engines that use it) of each option of the policy."""
    for at, policy in enumerate(engines[0]["policies"]):
        yield (policy["name"], policy["summary"],
               [engine["name"] for engine in engines if engine["policies"][at]["used"]])


def users(names, engines):
    if not names:
        return "no engine"
    return "all engines" if len(names) == len(engines) else enumeration(names)


def policy_lines(engines):
    """The options of opensm.conf, what they mean and who uses them."""
    lines = []
    for name, summary, names in policies(engines):
        lines += [".TP", f".B {roman(name)}",
                  roman(f"{sentence(summary)} Used by {users(names, engines)}.")]
    return lines


def route_lines(engines):
    """The same options of heddle route, with their engines alone."""
    lines = []
    for name, _, names in policies(engines):
        option = "--" + name.replace("_", "-")
        lines += [".TP", f".B {roman(option)}", roman(users(names, engines))]
    return lines


def values(option):
    if "minimum" in option:
        return f"{option['minimum']}..{option['maximum']}"
    return option.get("choices", "yes|no" if option["type"] == "boolean" else "VALUE")


def option_lines(engines):
    """The options of all engines as keys of heddle.conf, each variant with its engines."""
    variants = {}
    for engine in engines:
        for option in engine["options"]:
            key = (option["name"], values(option), option["default"], option["summary"])
            variants.setdefault(key, []).append(engine["name"])
    order = list(dict.fromkeys(name for name, *_ in variants))
    lines = []
    for key in sorted(variants, key=lambda key: order.index(key[0])):
        name, value, default, summary = key
        lines += [".TP", f'.BR {roman(name)} " = {roman(value)} ({roman(default)})"',
                  roman(f"{summary} [{users(variants[key], engines)}]")]
    return lines


def readme_engines(engines):
    lines = ["| engine | paths | fabrics | virtual lanes |", "|---|---|---|---|"]
    for engine in engines:
        lines.append(f"| `{engine['name']}` | {engine['summary']} | "
                     f"{fabrics(engine).split(';')[0]} | {lanes(engine)} |")
    return lines


def readme_policies(engines):
    """A column for all engines that use the same options, so that the lines stay short."""
    columns = {}
    for engine in engines:
        columns.setdefault(tuple(policy["used"] for policy in engine["policies"]), []).append(engine["name"])
    heads = [" ".join(f"`{name}`" for name in names) for names in columns.values()]
    lines = ["| option | " + " | ".join(heads) + " | meaning |", "|---" * (len(heads) + 2) + "|"]
    for name, summary, users_of in policies(engines):
        marks = " | ".join("yes" if names[0] in users_of else "-" for names in columns.values())
        lines.append(f"| `{name}` | {marks} | {summary} |")
    return lines


def example_lines(engines):
    """A section of heddle.conf for each engine, with its options commented out."""
    lines = []
    for engine in engines:
        lines += ["", f"[{engine['name']}]"]
        for option in engine["options"]:
            takes = values(option).replace("VALUE", "")
            lines += textwrap.wrap(option["summary"] + (f" ({takes})" if takes else ""), 98,
                                   initial_indent="# ", subsequent_indent="# ",
                                   break_on_hyphens=False, break_long_words=False)
            lines.append(f"#{option['name']} = {option['default']}")
    return lines


def replaced(page, begin, end, name, lines):
    before, rest = page.split(f"{begin}BEGIN {name}:", 1)
    head, rest = rest.split("\n", 1)
    after = rest[rest.index(f"{end}END {name}"):]
    return before + f"{begin}BEGIN {name}:{head}\n" + "\n".join(lines) + "\n" + after


def filled(heddle, page, name):
    """The page of that file name with its tables of engines as the built command has them."""
    engines = json.loads(subprocess.check_output([heddle, "engines", "--json"]))
    if name == "README.md":
        for table, lines in (("engines", readme_engines(engines)),
                             ("policies", readme_policies(engines))):
            page = replaced(page, "<!-- ", "<!-- ", table, lines)
        return page
    if name == "heddle.conf.example":
        return replaced(page, "# ", "# ", "engines", example_lines(engines))
    if name == "heddle.conf.5":
        page = replaced(page, '.\\" ', '.\\" ', "engine options", option_lines(engines))
        return replaced(page, '.\\" ', '.\\" ', "policies", policy_lines(engines))
    if name == "heddle-route.1":
        return replaced(page, '.\\" ', '.\\" ', "policies", route_lines(engines))
    return page
