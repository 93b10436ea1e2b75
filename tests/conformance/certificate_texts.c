/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Mutated files of certificates: no program of tools may prove what heddle check refuses.
 *
 *	certificate_texts [MUTATIONS [SEED]]
 *
 * The worlds are small fabrics of all kinds, with the tables of each engine: on one lane and on several, with lanes that
 * depend on ports, with plans of adaptive routing with and without private tables, and changes from the tables of one
 * engine to those of another. Each is a set of files as the command writes them. A mutation takes a world, changes one
 * to three places in its files, and gives these to the program. Places are bytes, digits, lines, blocks, names, which
 * become hostile ones, and whole files, in the place of which those of another engine come.
 *
 * The oracle reads the same files by what heddle check reads them, and has the verdict of hd_check() and hd_ar_prove(). A
 * proof is wrong if the oracle refuses a file, or finds a loop, a lost path, a credit loop, or another number of pairs
 * without an entry than the program says. Exit status 1 if a proof is wrong, or if a world is not proved as it is.
 */
#include "sample.h"
#include "verifier.h"

#include <errno.h>
#include <heddle/ar_manager.h>
#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <heddle/fabric/check.h>
#include <heddle/fabric/read.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORLDS = 400, TABLES = 3 };
enum kind { PLAIN, LANES, BY_PORTS, PLAN, PRIVATE, CHANGE, KINDS };

static const char *const kind_names[KINDS] = {
    "plain",	   "of several lanes",	  "of lanes by ports",
    "with a plan", "with private tables", "changes"};
static const unsigned most[KINDS] = {60, 30, 20, 60, 12, 60};
static unsigned have[KINDS];

struct world {
	char what[200];
	uint64_t number; /* of the fabric */
	struct verifier_text texts[VERIFIER_FILES];
};

static struct world worlds[WORLDS];
static unsigned world_count;
static uint64_t random_state;
static struct hd_error err; /* what the oracle says */
static int files[TABLES]; /* in memory: what the reader of tables opens by its path */

static uint32_t below(uint64_t limit)
{
	return (uint32_t)hd_random_below(&random_state, limit ? limit : 1);
}

static FILE *open_text(struct verifier_text *text)
{
	FILE *stream = open_memstream((char **)(uintptr_t)&text->bytes, &text->length);

	if (!stream) {
		perror("certificate_texts");
		exit(2);
	}
	return stream;
}

/* The oracle. */

static int read_routes(const struct hd_fabric *fabric, const struct verifier_text *tables,
		       const struct verifier_text *levels, struct hd_routes **out)
{
	const struct verifier_text *texts[] = {tables, levels};
	const size_t count = levels->bytes ? 2 : 1;
	struct hd_table_defects defects = {0};
	char names[TABLES][32];
	const char *paths[TABLES];

	for (size_t i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "/proc/self/fd/%d", files[i]);
		paths[i] = names[i];
		if (ftruncate(files[i], 0) || pwrite(files[i], texts[i]->bytes, texts[i]->length,
						     0) != (ssize_t)texts[i]->length) {
			perror("certificate_texts");
			exit(2);
		}
	}
	int rc = hd_routes_examine(paths, count, fabric, NULL, &defects, out, &err);
	if (!rc && defects.count) {
		hd_error_set(&err, -EINVAL, "%s", defects.list[0].text);
		hd_routes_free(*out);
		*out = NULL;
		rc = -EINVAL;
	}
	hd_table_defects_release(&defects);
	return rc;
}

/* NULL: nothing is wrong. */
static const char *judge_plan(const struct hd_fabric *fabric, const struct hd_routes *routes,
			      const struct verifier_text *text, bool *is_private)
{
	const struct hd_text far = {.bytes = text->bytes, .length = text->length, .name = "plan"};
	struct hd_ar_plan *plan = NULL;
	struct hd_ar_proof proof;
	uint64_t wrong;
	const char *fault = NULL;

	if (hd_ar_read_far(&far, fabric, &plan, NULL))
		return "the plan is refused";
	const struct hd_ar_proof_request request = {
	    .fabric = fabric, .routes = routes, .plan = plan, .threads = 1};
	if (hd_ar_plan_check(plan, fabric, routes, NULL, &wrong, &err) ||
	    hd_ar_prove(&request, &proof, NULL, &err))
		fault = err.text;
	*is_private = plan->table_count > 1;
	hd_ar_plan_free(plan);
	return fault;
}

static const char *judge_routes(const struct hd_fabric *fabric, const struct hd_routes *routes,
				uint64_t missing)
{
	const struct hd_check_options options = {.threads = 1, .max_faults = 1};
	struct hd_check_report *report = NULL;
	const char *fault = NULL;

	if (hd_check(fabric, routes, &options, &report, NULL))
		return "the tables are refused";
	if (report->loop || report->dead_end)
		fault = "packets do not arrive";
	else if (report->credit_loops)
		fault = "a credit loop";
	else if (report->no_route != missing)
		fault = "another number of pairs without an entry";
	hd_check_report_free(report);
	return fault;
}

/* What heddle check says of the files; NULL: nothing is wrong. */
static const char *judge(const struct verifier_text texts[VERIFIER_FILES], uint64_t missing)
{
	struct hd_fabric *fabric = NULL;
	struct hd_routes *routes = NULL, *before = NULL;
	const char *fault = NULL;
	bool is_private = false;

	if (hd_fabric_parse(texts[VERIFIER_TOPOLOGY].bytes, texts[VERIFIER_TOPOLOGY].length,
			    "topology", NULL, &fabric, &err))
		return err.text;
	if (read_routes(fabric, &texts[VERIFIER_TABLES], &texts[VERIFIER_LEVELS], &routes))
		fault = err.text;
	else if (texts[VERIFIER_BEFORE].bytes &&
		 read_routes(fabric, &texts[VERIFIER_BEFORE], &texts[VERIFIER_LEVELS], &before))
		fault = err.text;
	else if (texts[VERIFIER_PLAN].bytes)
		fault = judge_plan(fabric, routes, &texts[VERIFIER_PLAN], &is_private);
	if (!fault && !is_private) /* private tables take the place of the forwarding tables */
		fault = judge_routes(fabric, routes, missing);
	hd_routes_free(before);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	return fault;
}

/* Worlds. */

struct tables {
	struct hd_routes *routes;
	struct hd_ar_plan *plan;
};

static void write_files(struct world *world, const struct hd_fabric *fabric,
			const struct tables *now, const struct tables *before)
{
	const struct {
		enum verifier_file file;
		const struct hd_routes *routes;
		const struct hd_ar_plan *plan;
	} parts[] = {{VERIFIER_TABLES, now->routes, NULL},
		     {VERIFIER_BEFORE, before ? before->routes : NULL, NULL},
		     {VERIFIER_PLAN, NULL, now->plan},
		     {VERIFIER_PLAN_BEFORE, NULL, before ? before->plan : NULL}};
	FILE *stream = open_text(&world->texts[VERIFIER_TOPOLOGY]);

	hd_fabric_write_netlist(fabric, stream, NULL);
	fclose(stream);
	stream = open_text(&world->texts[VERIFIER_LEVELS]);
	hd_routes_write_levels(fabric, now->routes, stream, NULL);
	fclose(stream);
	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!parts[i].routes && !parts[i].plan)
			continue;
		stream = open_text(&world->texts[parts[i].file]);
		if (parts[i].routes)
			hd_routes_write_dump(fabric, parts[i].routes, stream, NULL);
		else
			hd_ar_write_far(parts[i].plan, fabric, stream, NULL);
		fclose(stream);
	}
}

/* The certificate of the tables, or of a change to them; 0 if there is one. */
static int write_certificate(struct world *world, const struct hd_fabric *fabric,
			     const struct tables *now, const struct tables *before)
{
	struct hd_certificate *certificate = NULL;
	struct hd_certificate_change *change = NULL;
	const struct hd_ar_certify_change request = {.fabric = fabric,
						     .before = before ? before->routes : NULL,
						     .after = now->routes,
						     .held = before ? before->plan : NULL,
						     .next = now->plan};
	int rc = before ? hd_ar_certify_change(&request, &change, NULL)
			: hd_ar_certify(fabric, now->routes, now->plan, NULL, &certificate, NULL);

	if (rc)
		return rc;
	FILE *stream = open_text(&world->texts[VERIFIER_CERTIFICATE]);
	if (before)
		hd_certificate_change_write(change, fabric, stream, NULL);
	else
		hd_certificate_write(certificate, fabric, stream, NULL);
	fclose(stream);
	hd_certificate_change_free(change);
	hd_certificate_free(certificate);
	return 0;
}

static void add_world(uint64_t number, const char *what, const struct hd_fabric *fabric,
		      const struct tables *now, const struct tables *before)
{
	struct world *world = &worlds[world_count];
	const char *reason = "";

	const enum kind kind = before		   ? CHANGE
			       : now->plan	   ? now->plan->table_count > 1 ? PRIVATE : PLAN
			       : now->routes->maps ? BY_PORTS
			       : __builtin_popcount(hd_routes_lanes(fabric, now->routes)) > 1
				   ? LANES
				   : PLAIN;

	if (have[kind] == most[kind] || write_certificate(world, fabric, now, before))
		return;
	have[kind]++;
	world->number = number;
	snprintf(world->what, sizeof(world->what), "%s%s%s", what, now->plan ? ", plan" : "",
		 before ? ", change" : "");
	write_files(world, fabric, now, before);
	world_count++;
	if (verifier_run(world->texts, &reason)) {
		printf("FAILED: %s: not proved as it is: %s\n", world->what, reason);
		exit(1);
	}
}

static void add_fabric(uint64_t number, const struct sample *sample)
{
	unsigned engine_count;
	const struct hd_engine *const *engines = hd_engines(&engine_count);
	struct tables before = {0};
	char what[160];

	for (unsigned i = 0; i < engine_count; i++) {
		const struct hd_route_request request = {.fabric = sample->fabric};
		struct tables now = {0};
		snprintf(what, sizeof(what), "%" PRIu64 " %s %s", number, sample->kind,
			 engines[i]->name);
		if (hd_engine_route(engines[i], &request, &now.routes, NULL))
			continue;
		const struct hd_ar_request wanted = {
		    .fabric = sample->fabric, .routes = now.routes, .mode = HD_AR_FREE};
		add_world(number, what, sample->fabric, &now, NULL);
		if (!hd_ar_plan_new(&wanted, &now.plan, NULL, NULL))
			add_world(number, what, sample->fabric, &now, NULL);
		if (now.plan && now.plan->table_count > 1) {
			hd_ar_plan_free(now.plan);
			now.plan = NULL;
		}
		if (before.routes && before.routes->lid_count == now.routes->lid_count)
			add_world(number, what, sample->fabric, &now, &before);
		hd_routes_free(before.routes);
		hd_ar_plan_free(before.plan);
		before = now;
	}
	hd_routes_free(before.routes);
	hd_ar_plan_free(before.plan);
}

/* Small fabrics, until there are enough worlds. The kinds that are rare need certain fabrics. */
static void make_worlds(void)
{
	for (uint64_t number = 0; number < 3000; number++) {
		const char *kind = sample_kind(sample_kind_of(number));
		const bool torus = !strcmp(kind, "torus"), plus = !strcmp(kind, "dragonfly-plus");
		const bool wanted = number < 60 || (torus && have[BY_PORTS] < most[BY_PORTS]) ||
				    (plus && have[PRIVATE] < most[PRIVATE]);
		struct sample sample;
		if (!wanted || sample_draw(number, &sample, NULL))
			continue;
		const uint32_t switches = torus || plus ? 26 : 14;
		if (sample.fabric->switch_count <= switches &&
		    sample.fabric->lid_count <= 5 * switches && sample.fabric->isl_count > 2)
			add_fabric(number, &sample);
		sample_release(&sample);
	}
}

/* Mutations: each returns a new text, which takes the place of the old one. */

static const char *const hostile[] = {
    "spare, switches dumped",
    "5 switches dumped",
    "2 runs dumped",
    "10 lids dumped",
    "spine) table 1",
    "x') table 1",
    "x') table 0",
    "a\" base port 0 lid 9 lmc 0",
    "a\" lid 3 4xEDR",
    "[1]\t\"S-0000000000200000\"[3]\t\t# \"x\" lid 1",
    " guid 0x0000000000200010 (y",
    "x') guid 0x0000000000200010 ('y",
    "portguid 0x0000000000100001: 'b",
    "Virtual lanes at switch guid 0x0000000000200000 ('s'):",
    "Service levels at switch guid 0x0000000000200000 ('s'):",
    "Unicast lids [0-9] of switch Lid 1 guid 0x0000000000200000 (",
    "Switch\t3 \"S-0000000000200000\"\t\t# \"a",
    "0x0001 001",
    "0x0001-0x0002 1",
    "* 2 : 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
    "0x0001 : 1 : static : -",
    "0 - 0 : 1, 2,",
    "end",
    "\033[8m",
    "%n%s",
    "\"",
    "')",
    "):",
    "# lid 1 lmc 0 \"b",
    ""};

static struct verifier_text splice(struct verifier_text old, size_t from, size_t to,
				   const char *with, size_t length)
{
	char *bytes = malloc(old.length + length + 1);

	if (!bytes)
		exit(2);
	memcpy(bytes, old.bytes, from);
	memcpy(bytes + from, with, length);
	memcpy(bytes + from + length, old.bytes + to, old.length - to);
	return (struct verifier_text){bytes, old.length - (to - from) + length};
}

/* Where the line begins that has this byte, and where the next one does. */
static void find_line(struct verifier_text text, size_t at, size_t *from, size_t *to)
{
	for (*from = at; *from && text.bytes[*from - 1] != '\n';)
		--*from;
	for (*to = at; *to < text.length && text.bytes[*to] != '\n';)
		++*to;
	*to += *to < text.length;
}

/* A block: from a line that begins with a letter, to the next one. */
static void find_block(struct verifier_text text, size_t at, size_t *from, size_t *to)
{
	size_t end;

	find_line(text, at, from, &end);
	while (*from &&
	       (text.bytes[*from] < 'A' || text.bytes[*from] > 'z' || text.bytes[*from] == '['))
		find_line(text, *from - 1, from, to);
	find_line(text, *from, from, to);
	while (*to < text.length &&
	       (text.bytes[*to] < 'A' || text.bytes[*to] > 'z' || text.bytes[*to] == '['))
		find_line(text, *to, &end, to);
}

/* The name in a line. */
static bool find_name(struct verifier_text text, size_t *from, size_t *to)
{
	const char *begin = text.bytes + *from, *end = text.bytes + *to, *first, *last;
	const char *mark = memchr(begin, '#', (size_t)(end - begin));

	if (mark && (first = memchr(mark, '"', (size_t)(end - mark))))
		last = memrchr(first + 1, '"', (size_t)(end - first - 1));
	else if ((first = memchr(begin, '\'', (size_t)(end - begin))))
		last = memrchr(first + 1, '\'', (size_t)(end - first - 1));
	else if ((first = memchr(begin, '(', (size_t)(end - begin))))
		last = memrchr(first + 1, ')', (size_t)(end - first - 1));
	else
		return false;
	if (!last)
		return false;
	*from = (size_t)(first + 1 - text.bytes);
	*to = (size_t)(last - text.bytes);
	return true;
}

/* The line and the next one in the other order. */
static struct verifier_text swap(struct verifier_text old, size_t from, size_t to)
{
	size_t begin, end;
	struct verifier_text text = splice(old, 0, 0, "", 0);
	char *bytes = (char *)(uintptr_t)text.bytes;

	if (to >= old.length)
		return text;
	find_line(old, to, &begin, &end);
	memcpy(bytes + from, old.bytes + to, end - to);
	memcpy(bytes + from + (end - to), old.bytes + from, to - from);
	return text;
}

static struct verifier_text mutate(struct verifier_text old)
{
	const char *bad = hostile[below(sizeof(hostile) / sizeof(*hostile))];
	size_t at = below(old.length), from, to, other = below(old.length), begin, end;
	char line[300], byte = (char)below(256);

	find_line(old, at, &from, &to);
	find_line(old, other, &begin, &end);
	switch (below(12)) {
	case 0: /* a digit, after the place */
		while (at < old.length && (old.bytes[at] < '0' || old.bytes[at] > '9'))
			at++;
		byte = (char)('0' + below(10));
		return splice(old, at, at + (at < old.length), &byte, 1);
	case 1: /* a byte is another one, or goes, or comes */
		return splice(old, at, at + below(2), &byte, below(2));
	case 2: /* a line goes */
		return splice(old, from, to, "", 0);
	case 3: /* a line comes */
		return splice(old, from, from, old.bytes + begin, end - begin);
	case 4: /* a line in the place of another one */
		return splice(old, from, to, old.bytes + begin, end - begin);
	case 5: /* two neighbours in the other order */
		return swap(old, from, to);
	case 6: /* a block goes */
		find_block(old, at, &from, &to);
		return splice(old, from, to, "", 0);
	case 7: /* a block comes */
		find_block(old, at, &from, &to);
		find_block(old, other, &begin, &end);
		return splice(old, from, from, old.bytes + begin, end - begin);
	case 8: /* a block in the place of another one */
		find_block(old, at, &from, &to);
		find_block(old, other, &begin, &end);
		return splice(old, from, to, old.bytes + begin, end - begin);
	case 9: /* a hostile line */
		snprintf(line, sizeof(line), "%s\n", bad);
		return splice(old, from, from, line, strlen(line));
	case 10: /* the file ends here */
		return splice(old, below(2) ? from : at, old.length, "", 0);
	default: /* a hostile name */
		return find_name(old, &from, &to) ? splice(old, from, to, bad, strlen(bad))
						  : splice(old, at, at, bad, strlen(bad));
	}
}

/* The file of another world of the same fabric, or of this one. */
static struct verifier_text exchange(const struct world *world, int file)
{
	for (unsigned tries = 0; tries < 8; tries++) {
		const struct world *other = &worlds[below(world_count)];
		if (other->number == world->number && other->texts[file].bytes)
			return other->texts[file];
	}
	return world->texts[file];
}

int main(int argc, char **argv)
{
	const unsigned long long mutations = argc > 1 ? strtoull(argv[1], NULL, 0) : 20000;
	uint64_t proved = 0, unchanged = 0, wrong = 0;

	random_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	for (unsigned i = 0; i < TABLES; i++)
		files[i] = memfd_create("tables", 0);
	make_worlds();
	printf("%u worlds:", world_count);
	for (unsigned kind = 0; kind < KINDS; kind++)
		printf(" %u %s%s", have[kind], kind_names[kind], kind + 1 < KINDS ? "," : "\n");
	for (unsigned long long i = 0; i < mutations; i++) {
		const struct world *world = &worlds[below(world_count)];
		struct verifier_text texts[VERIFIER_FILES];
		const char *reason, *fault, *said, *made[4];
		unsigned count = 0, places = 1 + below(3);
		memcpy(texts, world->texts, sizeof(texts));
		for (unsigned place = 0; place < places; place++) {
			int file = (int)below(VERIFIER_FILES);
			if (!texts[file].bytes)
				continue;
			if (below(16) == 0) {
				texts[file] = exchange(world, file);
				continue;
			}
			if (!texts[file].length)
				continue;
			texts[file] = mutate(texts[file]);
			made[count++] = texts[file].bytes;
		}
		if (verifier_run(texts, &reason) == 0) {
			said = strrchr(reason, ';');
			uint64_t missing = said ? strtoull(said + 1, NULL, 10) : 0;
			bool same = !memcmp(texts, world->texts, sizeof(texts));
			proved++;
			unchanged += same;
			fault = same ? NULL : judge(texts, missing);
			if (fault) {
				wrong++;
				printf("WRONG: mutation %llu of %s: %s\n", i, world->what, fault);
				if (wrong <= 10 && getenv("KEEP"))
					for (int file = 0; file < VERIFIER_FILES; file++) {
						char name[300];
						snprintf(name, sizeof(name), "%s/%" PRIu64 ".%d",
							 getenv("KEEP"), wrong, file);
						FILE *stream =
						    texts[file].bytes ? fopen(name, "w") : NULL;
						if (stream) {
							fwrite(texts[file].bytes, 1,
							       texts[file].length, stream);
							fclose(stream);
						}
					}
			}
		}
		while (count)
			free((void *)(uintptr_t)made[--count]);
	}
	printf("%llu mutations: %" PRIu64 " proved, %" PRIu64
	       " of these the files as they were, %" PRIu64 " wrong proofs\n",
	       mutations, proved, unchanged, wrong);
	return wrong ? 1 : 0;
}
