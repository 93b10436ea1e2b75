# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The bill of materials that `cmake --install` writes follows SPDX 2.3, and says the truth: it has each installed file
with its sums, and each library that a program needs. The rules here are those of the specification's JSON schema and of
its text, as far as they concern what is written."""

import hashlib
import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("HEDDLE_BUILD", ROOT / "build" / "check"))
VERSION = re.search(r"project\(heddle VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
LICENCES = {"GPL-2.0-only", "BSD-2-Clause", "BSD-3-Clause", "MIT", "Zlib", "blessing", "LGPL-2.1-or-later",
            "LGPL-3.0-or-later", "Linux-OpenIB", "GPL-2.0-or-later"}
KINDS = {"DESCRIBES", "CONTAINS", "DEPENDS_ON", "DYNAMIC_LINK", "RUNTIME_DEPENDENCY_OF"}
DOCUMENT = {"spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo", "packages", "files",
            "relationships"}
PACKAGE = {"SPDXID", "name", "downloadLocation", "filesAnalyzed", "licenseConcluded", "licenseDeclared", "copyrightText"}
FILE = {"SPDXID", "fileName", "checksums", "licenseConcluded", "licenseInfoInFiles", "copyrightText"}


def install(folder, date="1700000000"):
    """Installs the build into a folder. Returns it and the bill of materials."""
    subprocess.run(["cmake", "--install", BUILD, "--prefix", "/usr"], check=True, capture_output=True,
                   env={**os.environ, "DESTDIR": str(folder), "SOURCE_DATE_EPOCH": date})
    return folder, json.loads((folder / "usr/share/doc/heddle/heddle.spdx.json").read_text())


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return install(tmp_path_factory.mktemp("installed"))


def digest(path, kind="sha1"):
    return hashlib.new(kind, path.read_bytes()).hexdigest()


def faults(bill):
    """What of a bill of materials is against SPDX 2.3."""
    found = [f"lacks {key}" for key in DOCUMENT - set(bill)]
    if found:
        return found
    found += [f"{key}: {bill[key]}" for key, value in (("spdxVersion", "SPDX-2.3"), ("dataLicense", "CC0-1.0"),
                                                       ("SPDXID", "SPDXRef-DOCUMENT")) if bill[key] != value]
    if not re.fullmatch(r"https?://[^#\s]+", bill["documentNamespace"]):
        found.append("documentNamespace is no URI, or has a fragment")
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bill["creationInfo"]["created"]):
        found.append("created")
    if [who for who in bill["creationInfo"]["creators"] if not re.match(r"(Tool|Person|Organization): ", who)]:
        found.append("creators")
    for package in bill["packages"]:
        found += [f"{package['name']} lacks {key}" for key in PACKAGE - set(package)]
        if package["filesAnalyzed"] != ("packageVerificationCode" in package):
            found.append(f"{package['name']}: a verification code is for analysed files")
    for file in bill["files"]:
        found += [f"{file['fileName']} lacks {key}" for key in FILE - set(file)]
        if not file["fileName"].startswith("./") or "SHA1" not in {sum["algorithm"] for sum in file["checksums"]}:
            found.append(f"{file['fileName']}: a relative name, and a SHA1")
    for element in bill["packages"] + bill["files"]:
        for key in ("licenseConcluded", "licenseDeclared"):
            words = set(re.split(r" (?:OR|AND) ", element.get(key, "NOASSERTION")))
            if words != {"NOASSERTION"} and not words <= LICENCES:
                found.append(f"{element['SPDXID']}: {key} {element[key]}")
    return found + references(bill)


def references(bill):
    """Ids that are no ids, twice there, or missing, and relationships of an unknown kind."""
    ids = [bill["SPDXID"]] + [element["SPDXID"] for element in bill["packages"] + bill["files"]]
    found = [f"id {name}" for name in ids if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.\-]+", name) or ids.count(name) > 1]
    for relation in bill["relationships"]:
        ends = {relation["spdxElementId"], relation["relatedSpdxElement"]}
        if not ends <= set(ids) or relation["relationshipType"] not in KINDS:
            found.append(f"relationship {relation}")
    if not [relation for relation in bill["relationships"] if relation["relationshipType"] == "DESCRIBES"]:
        found.append("the document describes nothing")
    return found


def test_follows_spdx(installed):
    """Nothing is against the specification, and the version is the project's."""
    bill = installed[1]
    assert faults(bill) == []
    assert bill["packages"][0]["versionInfo"] == VERSION
    assert bill["creationInfo"]["created"] == "2023-11-14T22:13:20Z"  # SOURCE_DATE_EPOCH


def test_faults_are_found(installed):
    """The rules find what is wrong."""
    for change in (lambda bill: bill.update(spdxVersion="SPDX-2.2"), lambda bill: bill.pop("files"),
                   lambda bill: bill["files"][0].update(fileName="/usr/bin/heddle"),
                   lambda bill: bill["packages"][1].update(licenseDeclared="Unknown"),
                   lambda bill: bill["packages"][1].update(SPDXID="SPDXRef-File_1"),
                   lambda bill: bill["relationships"][0].update(relatedSpdxElement="SPDXRef-none")):
        bill = json.loads(json.dumps(installed[1]))
        change(bill)
        assert faults(bill), change


def test_files(installed):
    """Each installed file is there with its sums, but not the bill itself; the verification code is that of the sums."""
    folder, bill = installed
    present = {"./" + str(path.relative_to(folder)): path for path in folder.rglob("*")
               if path.is_file() and not path.is_symlink()}
    listed = {file["fileName"]: {sum["algorithm"]: sum["checksumValue"] for sum in file["checksums"]}
              for file in bill["files"]}
    assert set(present) - set(listed) == {"./usr/share/doc/heddle/heddle.spdx.json"}
    assert listed == {name: {"SHA1": digest(present[name]), "SHA256": digest(present[name], "sha256")} for name in listed}
    code = hashlib.sha1("".join(sorted(sums["SHA1"] for sums in listed.values())).encode()).hexdigest()
    assert bill["packages"][0]["packageVerificationCode"]["packageVerificationCodeValue"] == code


def test_libraries(installed):
    """For each library that the dynamic section of a program names there is a package with a version."""
    folder, bill = installed
    packages = {package["SPDXID"]: package for package in bill["packages"]}
    linked = {file["fileName"]: [packages[relation["relatedSpdxElement"]] for relation in bill["relationships"]
                                 if relation["spdxElementId"] == file["SPDXID"]
                                 and relation["relationshipType"] == "DYNAMIC_LINK"] for file in bill["files"]}
    programs = [name for name in linked if (folder / name).open("rb").read(4) == b"\x7fELF"]
    assert "./usr/bin/heddle" in programs
    for name in programs:
        shown = subprocess.check_output(["readelf", "-d", folder / name], text=True)
        assert len(linked[name]) == len(re.findall(r"\(NEEDED\)", shown)), name
        assert all(package.get("versionInfo") for package in linked[name]), (name, linked[name])


def test_same_again(installed, tmp_path):
    """Another installation of the same files gives the same bill, but for its date."""
    bill = install(tmp_path, "1600000000")[1]
    assert bill["creationInfo"].pop("created") != installed[1]["creationInfo"]["created"]
    assert {**bill, "creationInfo": 0} == {**installed[1], "creationInfo": 0}
