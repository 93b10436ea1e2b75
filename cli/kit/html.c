/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "html.h"

#include <heddle/base/plain.h>
#include <math.h>
#include <string.h>

/*
 * Colours of series are c0 .. c7, of loads h0 .. h8. A large load differs most from the ground, so
 * the dark ramp runs the other way. Each text has a contrast of at least 4.5 to its ground.
 */
static const char colours[] =
    ":root{color-scheme:light dark;--ground:#fff;--panel:#f3f5f8;--text:#1b1f24;--soft:#545d68;"
    "--rule:#d5dae1;--good:#11632b;--bad:#b3261e;"
    "--c0:#1f5fa8;--c1:#b8410f;--c2:#157a3a;--c3:#8a2fa0;--c4:#0c6f88;--c5:#8a5a10;--c6:#b41a5c;"
    "--c7:#4a5666;"
    "--h0:#dfe4ea;--h1:#fdecc8;--h2:#fbd38d;--h3:#f6b05c;--h4:#ec8840;--h5:#d9602e;--h6:#b83d26;"
    "--h7:#8c2320;--h8:#54101a}\n"
    "@media(prefers-color-scheme:dark){:root{--ground:#12161b;--panel:#1d232b;--text:#e7ebf0;"
    "--soft:#a5afbb;--rule:#37404b;--good:#7ddc93;--bad:#ff9c92;"
    "--c0:#7db4ff;--c1:#ff9f6e;--c2:#6fd68a;--c3:#d6a2f5;--c4:#5fd0e0;--c5:#e5c25f;--c6:#ff92c0;"
    "--c7:#b8c3d0;"
    "--h0:#2b333d;--h1:#43261f;--h2:#642d20;--h3:#8a3a20;--h4:#b04d20;--h5:#d26a25;--h6:#ea9140;"
    "--h7:#f7bd6c;--h8:#fff0bd}}\n";

static const char layout[] =
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:62rem;padding:1rem;background:var(--ground);color:var(--text);"
    "font:16px/1.5 system-ui,'DejaVu Sans',sans-serif}\n"
    "h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}\n"
    "h2{font-size:1.2rem;margin:2.2rem 0 .4rem}\n"
    "h1,p,li,figcaption,caption,th[scope=row],td bdi{overflow-wrap:anywhere}\n"
    ".verdict{margin:1rem 0;padding:.8rem 1rem;background:var(--panel);"
    "border-left:.35rem solid var(--c0)}\n"
    ".verdict p{margin:.2rem 0}.verdict p:first-child{font-size:1.15rem;font-weight:600}\n"
    ".verdict.better{border-color:var(--good)}.verdict.worse{border-color:var(--bad)}\n"
    ".note{color:var(--soft);font-size:.9rem}\n"
    "td.worse,b.worse{color:var(--bad)}td.better{color:var(--good)}\n"
    ".wide{overflow-x:auto;margin:1rem 0}\n"
    "table{border-collapse:collapse;width:100%}\n"
    "caption{text-align:left;font-weight:600;padding:.3rem 0}\n"
    "th,td{padding:.35rem .5rem;border-bottom:1px solid var(--rule);text-align:right;"
    "vertical-align:top;font-variant-numeric:tabular-nums}\n"
    "thead th{font-size:.85rem;line-height:1.3;color:var(--soft);font-weight:600;"
    "vertical-align:bottom;overflow-wrap:normal}\n"
    "th:first-child,td:first-child{text-align:left;padding-left:0}\n"
    "th[scope=row]{font-weight:400}td,td span{white-space:nowrap}td span{display:inline-block}"
    "th.name,td.name{white-space:normal;text-align:left}\n"
    "details{margin:1rem 0}summary{cursor:pointer}\n"
    ".points th:first-child{position:sticky;left:0;background:var(--ground);padding-right:.6rem}"
    ".points th[scope=row]{overflow-wrap:normal}.points th[scope=row] bdi{display:inline-block;"
    "min-width:4.5rem;max-width:9rem;overflow-wrap:break-word}.points td span{display:block}\n"
    "@media(max-width:480px){body{font-size:15px}th,td{padding:.35rem .3rem;font-size:.85rem}"
    "td{white-space:normal}"
    "thead th{font-size:.75rem}th svg.swatch{display:none}"
    ".points td{white-space:nowrap}#summary th[scope=row]{min-width:5.5rem}}\n"
    "@media(min-width:1000px){.points th[scope=row] bdi{max-width:20rem}}\n";

static const char pictures[] =
    "figure{margin:1rem 0 1.6rem}figcaption{margin:.4rem 0;font-size:.9rem}\n"
    "svg{display:block;overflow:visible}\n"
    "svg text{font-size:12px;fill:var(--soft)}\n"
    "svg.plot{margin:0 1rem 0 3.4rem;width:calc(100% - 4.4rem)}\n"
    ".plot line{stroke:var(--rule)}.plot line.axis{stroke:var(--soft)}\n"
    ".plot path{fill:none;stroke-width:2;vector-effect:non-scaling-stroke;"
    "stroke-linejoin:round}\n"
    ".plot line.mark{stroke-width:1.5}.plot text.mark{font-size:13px;font-weight:700;"
    "stroke:var(--ground);stroke-width:4px;paint-order:stroke}\n"
    "ul.key{list-style:none;margin:.5rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.15rem 1.4rem;"
    "font-size:.9rem}\n"
    "svg.swatch{display:inline-block;vertical-align:middle;margin-right:.4rem}\n"
    ".swatch line{stroke-width:3}\n"
    ".s0{stroke:var(--c0)!important}.s1{stroke:var(--c1)!important}"
    ".s2{stroke:var(--c2)!important}.s3{stroke:var(--c3)!important}"
    ".s4{stroke:var(--c4)!important}.s5{stroke:var(--c5)!important}"
    ".s6{stroke:var(--c6)!important}.s7{stroke:var(--c7)!important}\n"
    ".t0{fill:var(--c0)!important}.t1{fill:var(--c1)!important}.t2{fill:var(--c2)!important}"
    ".t3{fill:var(--c3)!important}.t4{fill:var(--c4)!important}.t5{fill:var(--c5)!important}"
    ".t6{fill:var(--c6)!important}.t7{fill:var(--c7)!important}\n"
    ".d1{stroke-dasharray:7 4}.d2{stroke-dasharray:2 3}.d3{stroke-dasharray:9 3 2 3}\n"
    ".maps{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr));"
    "gap:1.2rem}.maps.lone{grid-template-columns:minmax(0,38rem)}.maps figure{margin:0}\n"
    "svg.matrix{aspect-ratio:1;margin:2.6rem 0 1.6rem 2.4rem;width:calc(100% - 2.8rem)}\n"
    ".matrix line,.matrix rect.frame{stroke:var(--rule);fill:none}\n"
    "svg.links{margin:.4rem 0;width:100%}\n"
    ".links path{fill:none;vector-effect:non-scaling-stroke}\n"
    ".links rect{fill:var(--text)}\n"
    ".h0{--h:var(--h0)}.h1{--h:var(--h1)}.h2{--h:var(--h2)}.h3{--h:var(--h3)}"
    ".h4{--h:var(--h4)}.h5{--h:var(--h5)}.h6{--h:var(--h6)}.h7{--h:var(--h7)}"
    ".h8{--h:var(--h8)}\n"
    ".matrix path{fill:var(--h)}.links path{stroke:var(--h)}\n"
    "p.heat{display:flex;align-items:center;flex-wrap:wrap;gap:.1rem .5rem;font-size:.9rem;"
    "margin:.4rem 0}.heat rect{fill:var(--h)}\n";

void html_begin(FILE *page, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n<title>",
	      page);
	html_text(page, title);
	fprintf(page, "</title>\n<style>\n%s%s%s</style></head>\n<body><main>\n", colours, layout,
		pictures);
}

void html_end(FILE *page)
{
	fputs("</main></body></html>\n", page);
}

#define CHARACTER 4 /* the most bytes of one */

static const char *skip_character(const char *text)
{
	char piece[HD_PLAIN_PIECE];

	hd_plain_next(&text, text + strnlen(text, CHARACTER), piece);
	return text;
}

/* Takes a character off the text and writes it. */
static const char *put_character(FILE *page, const char *text)
{
	char piece[HD_PLAIN_PIECE];

	hd_plain_next(&text, text + strnlen(text, CHARACTER), piece);
	if (*piece == '<')
		fputs("&lt;", page);
	else if (*piece == '>')
		fputs("&gt;", page);
	else if (*piece == '&')
		fputs("&amp;", page);
	else if (*piece == '"')
		fputs("&quot;", page);
	else
		fputs(piece, page);
	return text;
}

void html_text(FILE *page, const char *text)
{
	while (*text)
		text = put_character(page, text);
}

/* More of the end stays than of the beginning, because paths often differ only there. */
void html_short(FILE *page, const char *name)
{
	const char *text = name;
	size_t count = 0;

	for (; *text; count++)
		text = skip_character(text);
	size_t head = count > HTML_NAME_MOST ? HTML_NAME_MOST / 3 : count;

	for (size_t i = 0; *name; i++) {
		if (i == head && count > HTML_NAME_MOST)
			fputs("&#8230;", page);
		if (i < head || i >= count - (HTML_NAME_MOST - head - 1))
			name = put_character(page, name);
		else
			name = skip_character(name);
	}
}

void html_name(FILE *page, const char *name)
{
	fputs("<bdi>", page);
	html_short(page, name);
	fputs("</bdi>", page);
}

void html_tables(FILE *page, const char *name)
{
	char piece[HTML_NAME_MOST + 1];

	if (strlen(name) > HTML_NAME_MOST) {
		html_name(page, name);
		return;
	}
	fputs("<bdi>", page);
	while (*name) {
		size_t length = strcspn(name, ",:/._");
		length += name[length] != '\0';
		memcpy(piece, name, length);
		piece[length] = '\0';
		html_text(page, piece);
		name += length;
		fputs(*name ? "<wbr/>" : "", page);
	}
	fputs("</bdi>", page);
}

#define BOX 15u /* the width of a colour in the key */

unsigned html_heat(double load, double hottest)
{
	if (!(load > 0) || !(hottest > 0))
		return 0;
	double heat = ceil(load / hottest * HTML_HEATS);
	return heat < 1 ? 1 : heat > HTML_HEATS ? HTML_HEATS : (unsigned)heat;
}

void html_heat_key(FILE *page, double hottest, const char *unit)
{
	fprintf(page,
		"<p class=\"heat\">no load<svg width=\"%u\" height=\"14\" aria-hidden=\"true\">",
		BOX * (HTML_HEATS + 1));
	for (unsigned heat = 0; heat <= HTML_HEATS; heat++)
		fprintf(page, "<rect class=\"h%u\" x=\"%u\" width=\"%u\" height=\"14\"/>", heat,
			BOX * heat, BOX);
	fprintf(page, "</svg>%.3f %s</p>\n", hottest, unit);
}
