# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The page of heddle compare --html: what it says, and how it looks on a phone, on a desk, in the
light and in the dark.

Pictures of whole pages are compared with small ones in report_pages. If a page is meant to look
different, run the test with HEDDLE_PICTURES=write, look at the new pictures, and commit them.
HEDDLE_PICTURES=FOLDER writes pictures of full size to that folder, to be looked at.
"""

import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest

from browser import CHROMIUM, Browser
from cli_testing import FAULTS, HEDDLE, generate, heddle, refused, route
from picture import difference
from fabric_sim import PATIENCE

REFERENCES = pathlib.Path(__file__).with_name("report_pages")
PICTURES = os.environ.get("HEDDLE_PICTURES")
WIDTHS = (390, 1280)
SCALE = 0.1  # of the pictures that are compared
FONT = "*{font-family:'DejaVu Sans'!important}"  # the same on all machines

AXE = "axe-core@4.14.1"
AXE_SHA512 = ("FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVG"
              "tQ==")

# Fabrics with 25, 200 and 2,000 switches, and what to compare there.
TREES = {
    25: (["--children", "8,16", "--parents", "1,9", "--remove-links", "3%"],
         ["-e", "updown", "-e", "dmodk", "-e", "spf"], 1000),
    200: (["--children", "6,10,16", "--parents", "1,2,4"],
          ["-e", "updown", "-e", "dmodk"], 100),
    2000: (["--children", "4,20,60", "--parents", "1,10,20", "--remove-links", "1%"],
           ["-e", "dmodk", "-e", "spf"], 10),
}

needs_browser = pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module", name="small")
def fixture_small(folder):
    return generate(folder / "small.net", "xgft", "--children=4,4", "--parents=1,2",
                    "--parallel=1,2")


@pytest.fixture(scope="module", name="pages")
def fixture_pages(folder):
    pages = {}
    for switches, (shape, engines, count) in TREES.items():
        tree = generate(folder / f"tree{switches}.net", "xgft", *shape)
        pages[switches] = folder / f"{switches}.html"
        heddle("compare", tree.name, *engines, "-n", count, "--html", pages[switches], cwd=folder)
    torus = generate(folder / "torus.net", "torus", "--dims=5,5")
    pages["torus"] = folder / "torus.html"
    heddle("compare", torus.name, "-e", "updown", "-e", "spf", "-n", 500, "--html", pages["torus"],
           cwd=folder)
    return pages


@pytest.fixture(scope="module", name="browser")
def fixture_browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


def compare(folder, *arguments, **options):
    """The page, parsed as XML: so it is well-formed, and every name in it is escaped."""
    page = folder / "page.html"
    heddle("compare", *arguments, "--html", page, **options)
    return parse(page)


def parse(page):
    text = page.read_bytes().decode("utf-8")
    return xml.etree.ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))


def text_of(element):
    return " ".join("".join(element.itertext()).split())


def by_id(page, name):
    return page.find(f".//*[@id='{name}']")


def rows(table):
    return [[text_of(cell) for cell in row] for row in table.find("tbody")]


# ---- what it says ----


def test_the_verdict_says_what_is_better_by_how_much_and_what_to_do(folder, small):
    torus = generate(folder / "ring.net", "torus", "--dims=4,4")
    better = text_of(by_id(compare(folder, torus, "-e", "updown", "-e", "spf", "-n", 500), "verdict"))
    amount = re.match(r"'spf' gives (\d+\.\d)% more bandwidth than 'updown' \(99% confidence: "
                      r"(\d+\.\d)% to (\d+\.\d)%\)\. ?Change to 'spf'\.", better)
    assert amount, better
    assert float(amount[2]) < float(amount[1]) < float(amount[3])
    worse = text_of(by_id(compare(folder, torus, "-e", "spf", "-e", "updown", "-n", 500), "verdict"))
    assert re.match(r"Nothing gives more bandwidth than 'spf'\. The next best, 'updown', gives \d+\.\d% "
                    r"less", worse)
    assert worse.endswith("Keep 'spf'.")
    same = text_of(by_id(compare(folder, small, "-e", "spf", "-e", "spf", "-n", 20), "verdict"))
    assert same == "The two tables are the same.Keep 'spf'."


def test_the_verdict_is_in_text_and_json_too(small):
    arguments = ["compare", small, "-e", "dmodk", "-e", "spf", "-n", 50]
    verdict = json.loads(heddle(*arguments, "--json")[0])["verdict"]
    assert verdict["outcome"] in ("keep", "change")
    assert heddle(*arguments)[0].endswith(f"\n\n{verdict['finding']}\n{verdict['advice']}\n")


def test_tables_that_lose_routes_are_never_better(folder, small):
    whole, holed = route("dmodk", small, folder / "whole.lft"), folder / "holed.lft"
    lines = whole.read_text().splitlines()
    holes = [i for i, line in enumerate(lines) if "'H" in line][:20]
    holed.write_text("\n".join(line for i, line in enumerate(lines) if i not in holes) + "\n")
    page = compare(folder, small, f"whole={whole}", f"holed={holed}", "-n", 200, status=FAULTS)
    cells = by_id(page, "summary").find("tbody").findall("tr")[1].findall("td")
    assert [cell.get("class") for cell in cells][1:] in (["even", "worse"], ["worse", "worse"])
    assert "Keep 'whole'." in text_of(by_id(page, "verdict"))
    page = compare(folder, small, f"holed={holed}", f"whole={whole}", "-n", 200, status=FAULTS)
    assert re.match(r"'holed' loses \d+ routes between hosts; 'whole' loses none\. ?Change to "
                    r"'whole'\.", text_of(by_id(page, "verdict")))
    page = compare(folder, small, f"holed={holed}", holed, "-e", "spf", "-n", 200, status=FAULTS)
    assert "Change to 'spf'" in text_of(by_id(page, "verdict"))
    page = compare(folder, small, f"one={holed}", f"two={holed}", "-n", 20, status=FAULTS)
    assert "heddle check" in text_of(by_id(page, "verdict"))


def test_tables_have_the_names_that_the_user_gives(folder, small):
    old, odd = route("dmodk", small, folder / "old.lft"), folder / "a=b"
    shutil.copy(old, odd)
    compared = json.loads(heddle("compare", small, "now=old.lft", "a=b", "./a=b", "-e", "spf", "-n",
                                 5, "--json", cwd=folder)[0])["compared"]
    assert [side["tables"] for side in compared] == ["now", "a=b", "./a=b", "spf"]
    assert [side.get("same_as") for side in compared[:3]] == [None, "now", "now"]
    assert "two tables have the name 'x'" in refused("compare", small, f"x={old}", f"x={odd}")
    assert "missing" in refused("compare", small, f"x={folder / 'missing'}", "-e", "spf")
    assert old.name in refused("compare", small, f"x={old}", "-e", "spf", "--html", old)


def test_the_same_tables_are_shown_once(folder, small):
    old = route("dmodk", small, folder / "same.lft")
    page = compare(folder, small, f"old={old}", "-e", "dmodk", "-e", "updown", "-n", 50)
    assert [row[0] for row in rows(by_id(page, "summary"))] == [
        "A old, dmodk (the same tables)", "B updown"]
    assert len(by_id(page, "patterns").findall(".//line[@class='mark s1 d1']")) == 1
    assert by_id(page, "links-B") is not None and by_id(page, "links-C") is None
    text = heddle("compare", small, f"old={old}", "-e", "dmodk", "-n", 50)[0]
    assert re.search(r"(?m)^dmodk +the same tables as old$", text) and "against" not in text


def test_figures_are_those_of_the_other_formats(folder, small):
    page = folder / "figures.html"
    compared = json.loads(heddle("compare", "--json", small, "-e", "dmodk", "-e", "spf", "--html",
                                 page, "-n", 500)[0])["compared"]
    shown = rows(by_id(parse(page), "summary"))
    for side, row in zip(compared, shown):
        assert row[1] == f"{side['mean']:.4f} ± {side['half_width_99']:.4f}"
    difference_shown = compared[1]["difference"]
    assert shown[1][2] == f"{difference_shown['mean']:+.4f} ± {difference_shown['half_width_99']:.4f}"


def line_points(svg, number):
    paths = svg.findall(f".//path[@class='s{number} d{number}']")
    return [tuple(map(float, point.split())) for point in re.split("[ML]", paths[0].get("d"))[1:]]


def scale(svg):
    """The value of one unit of height, from the numbers at the y axis."""
    marks = [(float(text.text.rstrip("%")), float(text.get("y"))) for text in svg.findall("text")
             if text.get("text-anchor") == "end"]
    assert 3 <= len(marks) <= 6 and marks[0][0] == 0
    return (marks[1][0] - marks[0][0]) / (marks[0][1] - marks[1][1])


def test_distributions_of_all_tables_lie_over_one_pair_of_axes(pages):
    """The area under each line is 100% of the patterns, in the units of the axes."""
    svg = by_id(parse(pages[25]), "patterns")
    ticks = [(float(text.text), float(text.get("x").rstrip("%"))) for text in svg.findall("text")
             if text.get("text-anchor") == "middle" and re.fullmatch(r"[\d.]+", text.text)]
    across = (ticks[-1][0] - ticks[0][0]) / (ticks[-1][1] - ticks[0][1]) / 10  # a unit of width
    for number in range(3):
        points = line_points(svg, number)
        area = sum((right[0] - left[0]) * (440 - left[1] - right[1]) / 2
                   for left, right in zip(points, points[1:]))
        assert area * across / 0.001 * scale(svg) == pytest.approx(100, abs=2)


def test_link_loads_are_in_descending_order(pages):
    for name in pages:
        svg = by_id(parse(pages[name]), "loads")
        largest = [float(load) for load in re.findall(r"largest load ([\d.]+)",
                                                      text_of(svg.find("desc")))]
        assert len(largest) >= 2
        for number, load in enumerate(largest):
            heights = [220 - y for _, y in line_points(svg, number)]
            assert heights == sorted(heights, reverse=True)
            assert heights[0] * scale(svg) == pytest.approx(load, rel=0.02)


def test_a_small_tree_is_drawn_and_other_fabrics_are_matrices(pages):
    drawn = by_id(parse(pages[25]), "links-A")
    assert drawn.get("class") == "links" and len(drawn.findall("rect")) == 25
    assert len(drawn.findall("svg/path")) == 140  # of 144 cables 4 are missing
    for name, groups in (("torus", 25), (200, None), (2000, None)):
        page = parse(pages[name])
        matrix, listed = by_id(page, "links-A"), rows(by_id(page, "groups"))
        assert matrix.get("class") == "matrix" and 12 <= len(listed) <= 40
        assert sum(int(row[2]) for row in listed) == (25 if name == "torus" else name)
        assert groups in (None, len(listed))


def test_a_page_is_small_and_needs_nothing_else(pages):
    for page in pages.values():
        text = page.read_text()
        assert len(text) < 200_000
        for word in ("src=", "href=", "http", "url(", "<script", "@import"):
            assert word not in text


def test_names_cannot_break_or_swell_the_page(folder, small):
    """Markup, quotes, letters of the world, other bytes and very long names."""
    for number, name in enumerate(["<script>alert(1)</script>&", "</title>'&amp;'", "叶子交换机 λ",
                                   "x" * 3000]):
        evil = folder / f"evil{number}.net"
        evil.write_text(small.read_text().replace("S1_0", name))
        page = folder / "evil.html"
        heddle("compare", evil, "-e", "spf", "-e", "dmodk", "-n", 20, "--html", page, status=None)
        if page.exists():
            assert len(page.read_bytes()) < 100_000
            assert parse(page).find(".//script") is None
            page.unlink()
    tables = folder / ("<b>&\"" + "ü" * 100)
    route("dmodk", small, tables)
    page = compare(folder, small, tables, f"\udcff\udcfe<i>={tables}", "-e", "spf", "-n", 20,
                   encoding="latin-1")
    assert page.find(".//b/b") is None and page.find(".//i") is None
    assert r"\xff\xfe<i>" in text_of(page)


def test_most_tables_and_links_still_give_a_page_under_a_megabyte(folder):
    tree = generate(folder / "thousand.net", "xgft", "--children=8,8,12", "--parents=1,4,4")
    engines = [word for seed in range(16) for word in ("-e", f"updown:root=best:{seed + 1}")]
    page = folder / "thousand.html"
    heddle("compare", tree, *engines, "-n", 2, "--hot", 100000, "--html", page)
    assert page.stat().st_size < 1_000_000


@pytest.mark.skipif(not shutil.which("tidy"), reason="tidy is not installed")
def test_tidy_finds_nothing_wrong(pages):
    """tidy takes pieces of SVG for HTML, with attributes that it does not know; all else counts."""
    for page in pages.values():
        done = subprocess.run(["tidy", "-quiet", "-errors", "-utf8", page], capture_output=True,
                              text=True)
        found = [line for line in done.stderr.splitlines()
                 if not re.search("Warning: <(svg|title)> proprietary attribute", line)]
        assert done.returncode < 2 and found == []


def test_readers_of_screens_find_names_and_headings(pages):
    """Every picture has a role, a name and a description, or is hidden; every table a caption, and
    every heading of a table a scope."""
    for path in pages.values():
        page = parse(path)
        names = [element.get("id") for element in page.iter() if element.get("id")]
        assert len(names) == len(set(names))
        nested = {id(inner) for outer in page.iter("svg") for inner in outer.iter("svg")
                  if inner is not outer}
        for svg in page.iter("svg"):
            if id(svg) not in nested and svg.get("aria-hidden") != "true":
                assert svg.get("role") == "img"
                assert text_of(by_id(page, svg.get("aria-labelledby")))
                assert text_of(by_id(page, svg.get("aria-describedby")))
        for table in page.iter("table"):
            assert text_of(table.find("caption"))
            assert all(cell.get("scope") in ("row", "col") for cell in table.iter("th"))
        for figure in page.iter("figure"):
            assert text_of(figure.find("figcaption"))
        assert page.get("lang") == "en" and len(list(page.iter("h1"))) == 1


# ---- how it looks ----


# Texts of a chart that touch each other or leave the screen, and any text that is too small.
FAULTS_OF_LAYOUT = """(() => {
  const found = [];
  for (const svg of document.querySelectorAll('svg[role=img]')) {
    const texts = [...svg.querySelectorAll('text')].map(text => {
      const box = text.getBoundingClientRect();
      if (box.left < 0 || box.right > innerWidth) found.push('outside: ' + text.textContent);
      if (parseFloat(getComputedStyle(text).fontSize) < 11) found.push('small: ' + text.textContent);
      return [box, text.textContent];
    });
    texts.forEach(([a, one], i) => texts.slice(i + 1).forEach(([b, other]) => {
      if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 &&
          b.top < a.bottom - 3) found.push(one + ' touches ' + other);
    }));
  }
  const width = document.documentElement.scrollWidth;
  if (width > innerWidth) found.push('scrolls to ' + width);
  return found;
})()"""


def shoot(browser, page, width, dark, shot_scale):
    browser.open(page, width, dark, shot_scale)
    browser.run(f"document.head.insertAdjacentHTML('beforeend', \"<style>{FONT}</style>\")")
    return browser.picture()


@needs_browser
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [*TREES, "torus"])
def test_nothing_touches_or_leaves_the_screen(browser, pages, name, width):
    shoot(browser, pages[name], width, False, 1)
    browser.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert browser.run(FAULTS_OF_LAYOUT) == []


@needs_browser
def test_sixteen_tables_with_long_names_fit_a_phone(browser, folder, small):
    page = folder / "sixteen.html"
    tables = [route(engine, small, folder / f"{engine}.lft") for engine in ("dmodk", "spf")]
    operands = [f"{'long-name-' * 12}{number}={tables[number % 2]}" for number in range(8)]
    engines = [word for number in range(8) for word in ("-e", f"updown:root=best:{number + 1}")]
    heddle("compare", small, *operands, *engines, "-n", 100, "--html", page)
    shoot(browser, page, 390, False, 1)
    assert browser.run(FAULTS_OF_LAYOUT) == []


def looks_like(seen, reference):
    height, mean, much = difference(seen, reference)
    print(f"height {height:.3f}, mean {mean:.2f}, squares {much:.3f}")
    return height < 0.02 and mean < 2 and much < 0.012


@needs_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("switches", list(TREES))
def test_pages_look_like_their_references(browser, pages, switches, width, dark):
    name = f"{switches}-{width}-{'dark' if dark else 'light'}.png"
    if PICTURES and PICTURES != "write":
        (pathlib.Path(PICTURES) / name).write_bytes(shoot(browser, pages[switches], width, dark, 1))
    seen = shoot(browser, pages[switches], width, dark, SCALE)
    if PICTURES == "write":
        (REFERENCES / name).write_bytes(seen)
    assert looks_like(seen, (REFERENCES / name).read_bytes())


@needs_browser
def test_the_comparison_of_pictures_finds_differences(browser, pages, folder):
    """A page without one chart, and one with other colours, are not like the reference."""
    reference = (REFERENCES / "25-390-light.png").read_bytes()
    text = pages[25].read_text()
    for old, new in (('class="plot" id="pi"', 'class="plot" id="pi" style="visibility:hidden"'),
                     ("--panel:#f3f5f8", "--panel:#e8c0c0"), ("--h7:#8c2320", "--h7:#208c23")):
        assert old in text
        changed = folder / "changed.html"
        changed.write_text(text.replace(old, new))
        assert not looks_like(shoot(browser, changed, 390, False, SCALE), reference), old


def axe_script():
    """axe-core, which checks accessibility: kept in the build folder, else from npm."""
    folder = pathlib.Path(os.environ.get("HEDDLE_BUILD", pathlib.Path(HEDDLE).parents[1])) / "axe"
    script = folder / "package" / "axe.min.js"
    if script.exists():
        return script.read_text()
    if not shutil.which("npm"):
        pytest.skip("axe-core is missing, and npm is not installed")
    folder.mkdir(exist_ok=True)
    try:
        done = subprocess.run(["npm", "pack", "--silent", AXE], cwd=folder, timeout=PATIENCE,
                              capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        pytest.skip("npm does not answer")
    if done.returncode:
        pytest.skip(f"npm has no {AXE} here")
    archive = folder / done.stdout.split()[-1]
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    assert found == AXE_SHA512, "this is not the axe-core that was chosen"
    shutil.unpack_archive(archive, folder)
    return script.read_text()


@needs_browser
@pytest.mark.parametrize("name, dark", [(25, False), (25, True), (2000, True)])
def test_axe_finds_nothing(browser, pages, name, dark):
    script = axe_script()
    shoot(browser, pages[name], 390, dark, 1)
    browser.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    browser.run(script)
    found = browser.run("axe.run().then(all => all.violations.map(one => one.id + ': ' + "
                        "one.nodes.map(node => node.html).join(' ')))")
    assert found == []
    browser.run("document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=\"data:,\">')")
    assert browser.run("axe.run().then(all => all.violations.map(one => one.id))") == ["image-alt"]
