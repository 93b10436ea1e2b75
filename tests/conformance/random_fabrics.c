/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every engine on random fabrics of every kind.
 *
 *	random_fabrics [COUNT [FIRST [ENGINE[:KEY=VALUE,...]]...]]
 *
 * Fabrics number FIRST .. FIRST + COUNT - 1 (1000, 0); all engines with their defaults, or those
 * named. A fabric is a function of its number: `random_fabrics 1 N` repeats number N alone. Prints each
 * demand that is not met, and a summary. Exit status 1 if a demand is not met. ENGINE can be one of a
 * module in the folders of HEDDLE_ENGINE_PATH.
 */
#include "demands.h"
#include <heddle/engines/engine_list.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kind_tally {
	unsigned fabrics, damaged, multipath, failed;
	uint32_t switches_max, hosts_max;
	struct tally *engines;
};

#define ENGINES_MAX 32

/* An engine as it is named in the summary, with its options. */
struct contender {
	const char *name;
	const struct hd_engine *engine;
	struct hd_options *options; /* NULL: the defaults */
};

struct run {
	struct hd_engine_list *list;
	struct contender engines[ENGINES_MAX];
	unsigned engine_count;
	struct kind_tally *kinds;
};

/* Splits "ENGINE:KEY=VALUE,..." in place. */
static bool name_engine(const struct run *run, struct contender *contender, char *text)
{
	struct hd_error err = {""};
	char *settings = strchr(text, ':');

	contender->name = strdup(text);
	if (settings)
		*settings++ = '\0';
	contender->engine = hd_engine_list_find(run->list, text);
	contender->options = contender->engine ? hd_engine_options(contender->engine) : NULL;
	return contender->options && !hd_options_set_pairs(contender->options, settings, &err);
}

static void print_remark(void *context, enum hd_log_level level, const char *line)
{
	(void)context;
	(void)level;
	printf("%s\n", line);
}

static bool load_engines(struct run *run)
{
	const struct hd_log log = {.write = print_remark};
	const struct hd_engine_source source = {.path = getenv("HEDDLE_ENGINE_PATH"), .log = &log};

	return !hd_engine_list_new(&source, &run->list, NULL);
}

static bool choose_engines(struct run *run, int count, char **names)
{
	unsigned known;
	const struct hd_engine *const *engines = hd_engines(&known);

	if (count > ENGINES_MAX || known > ENGINES_MAX)
		return false;
	run->engine_count = count ? (unsigned)count : known;
	for (unsigned i = 0; i < run->engine_count; i++) {
		run->engines[i] = (struct contender){.engine = engines[count ? 0 : i]};
		if (!count)
			run->engines[i].name = strdup(engines[i]->name);
		else if (!name_engine(run, &run->engines[i], names[i]))
			return false;
	}
	return true;
}

static bool run_init(struct run *run)
{
	run->kinds = calloc(sample_kinds(), sizeof(*run->kinds));
	for (unsigned i = 0; run->kinds && i < sample_kinds(); i++) {
		run->kinds[i].engines = calloc(run->engine_count, sizeof(*run->kinds[i].engines));
		if (!run->kinds[i].engines)
			return false;
	}
	return run->kinds != NULL;
}

static void run_release(struct run *run)
{
	for (unsigned i = 0; i < sample_kinds(); i++)
		free(run->kinds[i].engines);
	free(run->kinds);
	for (unsigned i = 0; i < run->engine_count; i++) {
		hd_options_free(run->engines[i].options);
		free((char *)run->engines[i].name);
	}
	hd_engine_list_free(run->list);
}

static void note_sample(struct kind_tally *kind, const struct sample *sample)
{
	kind->fabrics++;
	kind->damaged += !sample->intact;
	kind->multipath += sample->lmc > 0;
	if (sample->fabric->switch_count > kind->switches_max)
		kind->switches_max = sample->fabric->switch_count;
	if (sample->fabric->host_count > kind->hosts_max)
		kind->hosts_max = sample->fabric->host_count;
}

static void run_fabric(struct run *run, uint64_t number)
{
	struct kind_tally *kind = &run->kinds[sample_kind_of(number)];
	struct sample sample;
	struct hd_error err = {0};
	int rc = sample_draw(number, &sample, &err);

	if (rc) {
		kind->failed++;
		printf("FAILED number %llu: no fabric: error %d: %s\n", (unsigned long long)number,
		       rc, err.text);
		return;
	}
	note_sample(kind, &sample);
	for (unsigned i = 0; i < run->engine_count; i++) {
		struct trial trial = {.sample = &sample,
				      .engine = run->engines[i].engine,
				      .options = run->engines[i].options,
				      .number = number,
				      .tally = &kind->engines[i]};
		demands_make(&trial);
	}
	sample_release(&sample);
}

static unsigned summarize_kind(const struct run *run, unsigned index)
{
	const struct kind_tally *kind = &run->kinds[index];
	unsigned failed = kind->failed;

	printf("%-15s %4u fabrics, %u damaged, %u with LMC, up to %u switches and %u hosts\n",
	       sample_kind(index), kind->fabrics, kind->damaged, kind->multipath,
	       kind->switches_max, kind->hosts_max);
	for (unsigned i = 0; i < run->engine_count; i++) {
		const struct tally *tally = &kind->engines[i];
		failed += tally->failed;
		printf("    %-9s routed %4u, refused %4u, up to %2u lanes; one cable less: "
		       "changed/affected %llu/%llu entries, %u of %u reshuffled; back: %llu; "
		       "left out %u; failed %u\n",
		       run->engines[i].name, tally->routed, tally->refused, tally->lanes,
		       (unsigned long long)tally->changed, (unsigned long long)tally->affected,
		       tally->reshuffled, tally->cuts, (unsigned long long)tally->returned,
		       tally->left_out, tally->failed);
	}
	return failed;
}

int main(int argc, char **argv)
{
	unsigned long long count = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000;
	unsigned long long first = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	unsigned failed = 0;
	struct run run = {.engine_count = 0};

	if (!load_engines(&run) || !choose_engines(&run, argc > 3 ? argc - 3 : 0, argv + 3)) {
		fprintf(stderr, "random_fabrics: no such engine or option\n");
		return 2;
	}
	if (!run_init(&run)) {
		fprintf(stderr, "no memory\n");
		return 2;
	}
	for (unsigned long long i = 0; i < count; i++)
		run_fabric(&run, first + i);
	for (unsigned kind = 0; kind < sample_kinds(); kind++)
		if (run.kinds[kind].fabrics || run.kinds[kind].failed)
			failed += summarize_kind(&run, kind);
	printf("%llu fabrics, %u demands not met\n", count, failed);
	run_release(&run);
	return failed ? 1 : 0;
}
