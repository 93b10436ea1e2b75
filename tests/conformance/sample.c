/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sample.h"
#include "facts.h"
#include <errno.h>
#include <heddle/base/random.h>
#include <inttypes.h>
#include <stdlib.h>

#define SWITCHES_MAX 120u
#define ATTEMPTS 200
#define ADDED_GUID UINT64_C(0x900000)

typedef int choose_fn(struct hd_options *options, uint64_t *random);

struct kind {
	const char *generator;
	bool tree;
	choose_fn *choose;
};

/* least .. most */
static unsigned pick(uint64_t *random, unsigned least, unsigned most)
{
	return least + (unsigned)hd_random_below(random, most - least + 1);
}

static int set(struct hd_options *options, const char *name, unsigned value)
{
	char text[32];

	snprintf(text, sizeof(text), "%u", value);
	return hd_options_set(options, name, text, NULL);
}

/* "first,a,b": the first number given, `count` - 1 more of least .. most; first 0: all random. */
static int set_list(struct hd_options *options, const char *name, unsigned first, unsigned count,
		    unsigned most, uint64_t *random)
{
	char text[128];
	int length = 0;

	for (unsigned i = 0; i < count; i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length, "%s%u",
				   i ? "," : "", i == 0 && first ? first : pick(random, 1, most));
	return hd_options_set(options, name, text, NULL);
}

static int choose_xgft(struct hd_options *options, uint64_t *random)
{
	unsigned levels = pick(random, 1, 3), most = levels == 3 ? 4 : 8;
	int rc = set_list(options, "children", 0, levels, most, random);

	if (!rc)
		rc = set_list(options, "parents", 1, levels, 4, random);
	if (!rc && pick(random, 0, 2) == 0)
		rc = set_list(options, "parallel", 1, levels, 3, random);
	return rc;
}

static int choose_kary(struct hd_options *options, uint64_t *random)
{
	unsigned k = pick(random, 1, 5);
	int rc = set(options, "k", k);

	return rc ? rc : set(options, "n", pick(random, 1, k < 3 ? 5 : 3));
}

static int choose_rlft(struct hd_options *options, uint64_t *random)
{
	unsigned half = pick(random, 1, 4), levels = pick(random, 2, 3);
	int rc = set(options, "radix", 2 * half);

	if (!rc)
		rc = set(options, "levels", levels);
	if (!rc && pick(random, 0, 1))
		rc = set(options, "hosts", half * pick(random, 1, 2 * half * half));
	return rc;
}

static int choose_grid(struct hd_options *options, uint64_t *random)
{
	int rc = set_list(options, "dims", 0, pick(random, 1, 3), 5, random);

	if (!rc)
		rc = set(options, "hosts", pick(random, 0, 3));
	if (!rc && pick(random, 0, 2) == 0)
		rc = set(options, "parallel", 2);
	return rc;
}

static int choose_hypercube(struct hd_options *options, uint64_t *random)
{
	int rc = set(options, "dimensions", pick(random, 0, 6));

	return rc ? rc : set(options, "hosts", pick(random, 1, 2));
}

static int choose_dragonfly(struct hd_options *options, uint64_t *random)
{
	static const char *const names[] = {"islands", "leaves", "spines", "hosts"};
	int rc = set(options, "global-links", pick(random, 0, 4));

	for (unsigned i = 0; i < 4 && !rc; i++)
		rc = set(options, names[i], pick(random, 1, i ? 4 : 6));
	return rc;
}

static int choose_directors(struct hd_options *options, uint64_t *random)
{
	unsigned leaves = pick(random, 1, 14), uplinks = pick(random, 1, 3);
	unsigned lines = pick(random, 1, 6);
	unsigned outside = (leaves * uplinks + lines - 1) / lines + pick(random, 0, 1);

	const struct {
		const char *name;
		unsigned value;
	} chosen[] = {
	    {"leaves", leaves},
	    {"hosts", pick(random, 1, 4)},
	    {"uplinks", uplinks},
	    {"directors", pick(random, 1, 3)},
	    {"outside", outside},
	    {"line-chips", lines},
	    {"spine-chips", pick(random, 1, 4)},
	};
	int rc = 0;

	for (unsigned i = 0; i < sizeof(chosen) / sizeof(*chosen) && !rc; i++)
		rc = set(options, chosen[i].name, chosen[i].value);
	return rc;
}

static int choose_irregular(struct hd_options *options, uint64_t *random)
{
	int rc = set(options, "switches", pick(random, 1, 60));

	if (!rc)
		rc = set(options, "radix", pick(random, 3, 16));
	if (!rc)
		rc = set(options, "seed", pick(random, 0, 1000000));
	if (!rc && pick(random, 0, 1))
		rc = set(options, "cycles", pick(random, 0, 12));
	if (!rc && pick(random, 0, 1))
		rc = set(options, "hosts", pick(random, 0, 3));
	return rc;
}

static int choose_hyperx(struct hd_options *options, uint64_t *random)
{
	int rc = set_list(options, "dims", 0, pick(random, 1, 3), 5, random);

	if (!rc)
		rc = set(options, "hosts", pick(random, 0, 3));
	if (!rc && pick(random, 0, 4) == 0)
		rc = set(options, "parallel", 2);
	return rc;
}

static int choose_slim_fly(struct hd_options *options, uint64_t *random)
{
	static const unsigned orders[] = {3, 4, 5, 7};
	int rc = set(options, "q", orders[pick(random, 0, 3)]);

	return rc ? rc : set(options, "hosts", pick(random, 1, 3));
}

static int choose_groups(struct hd_options *options, uint64_t *random)
{
	unsigned switches = pick(random, 1, 5), globals = pick(random, 0, 3);
	int rc = set(options, "switches", switches);

	if (!rc)
		rc = set(options, "global-links", globals);
	if (!rc)
		rc = set(options, "hosts", pick(random, 0, 3));
	if (!rc && pick(random, 0, 1))
		rc = set(options, "groups", pick(random, 1, switches * globals + 1));
	return rc;
}

static int choose_jellyfish(struct hd_options *options, uint64_t *random)
{
	int rc = set(options, "switches", pick(random, 1, 60));

	if (!rc)
		rc = set(options, "degree", pick(random, 0, 9));
	if (!rc)
		rc = set(options, "hosts", pick(random, 0, 3));
	return rc ? rc : set(options, "seed", pick(random, 0, 1000000));
}

static const struct kind kinds[] = {
    {"xgft", true, choose_xgft},
    {"kary-ntree", true, choose_kary},
    {"rlft", true, choose_rlft},
    {"directors", true, choose_directors},
    {"torus", false, choose_grid},
    {"mesh", false, choose_grid},
    {"hypercube", false, choose_hypercube},
    {"dragonfly-plus", false, choose_dragonfly},
    {"irregular", false, choose_irregular},
    {"hyperx", false, choose_hyperx},
    {"slim-fly", false, choose_slim_fly},
    {"dragonfly", false, choose_groups},
    {"jellyfish", false, choose_jellyfish},
};

/* Those of the numbers from SAMPLE_DIRECT on are the last ones. */
#define DIRECT_KINDS 4u

unsigned sample_kinds(void)
{
	return sizeof(kinds) / sizeof(*kinds);
}

unsigned sample_kind_of(uint64_t number)
{
	uint64_t plain = number % SAMPLE_AGGREGATION;
	unsigned others = sample_kinds() - DIRECT_KINDS;

	if (plain < SAMPLE_DIRECT)
		return (unsigned)(plain % others);
	return others + (unsigned)((plain - SAMPLE_DIRECT) % DIRECT_KINDS);
}

const char *sample_kind(unsigned kind)
{
	return kinds[kind].generator;
}

static void note(struct sample *sample, const char *format, ...) HD_PRINTF(2, 3);

static void note(struct sample *sample, const char *format, ...)
{
	size_t length = strlen(sample->recipe);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sample->recipe + length, sizeof(sample->recipe) - length, format, arguments);
	va_end(arguments);
}

/* One try. -EINVAL if the numbers do not fit each other. */
static int generate_once(const struct kind *kind, uint64_t *random, struct sample *sample,
			 struct hd_error *err)
{
	const struct hd_generator *generator = hd_generator_find(kind->generator);
	struct hd_options *options;

	if (!generator)
		return hd_error_set(err, -ENOENT, "no generator '%s'", kind->generator);
	options = hd_options_new(generator->options, generator->option_count);
	if (!options)
		return hd_error_no_memory(err);
	int rc = kind->choose(options, random);
	if (!rc)
		rc = generator->generate(options, &sample->fabric, err);
	if (!rc && sample->fabric->switch_count > SWITCHES_MAX) {
		hd_fabric_free(sample->fabric);
		sample->fabric = NULL;
		rc = hd_error_set(err, -EINVAL, "too many switches");
	}
	hd_options_print(options, sample->recipe, (int)sizeof(sample->recipe));
	hd_options_free(options);
	return rc;
}

static int generate(const struct kind *kind, uint64_t *random, struct sample *sample,
		    struct hd_error *err)
{
	int rc = -EINVAL;

	for (int i = 0; i < ATTEMPTS && rc == -EINVAL; i++)
		rc = generate_once(kind, random, sample, err);
	return rc;
}

static int replace(struct sample *sample, struct hd_builder *builder, struct hd_error *err)
{
	struct hd_fabric *changed;
	int rc = hd_builder_build(builder, &changed, err);

	if (!rc) {
		hd_fabric_free(sample->fabric);
		sample->fabric = changed;
	}
	hd_builder_free(builder);
	return rc;
}

static int cut_links(struct sample *sample, uint64_t *random, struct hd_error *err)
{
	unsigned percent = pick(random, 1, 30);
	uint64_t seed = pick(random, 0, 1000000);
	struct hd_fabric *changed;
	int rc = hd_fabric_remove_links(sample->fabric, percent, seed, &changed, err);

	if (rc)
		return rc;
	note(sample, " --remove-links %u --seed %" PRIu64, percent, seed);
	hd_fabric_free(sample->fabric);
	sample->fabric = changed;
	return 0;
}

/* Removes the cables of one in 2 .. 6 hosts. */
static int cut_hosts(struct sample *sample, uint64_t *random, struct hd_error *err)
{
	const struct hd_fabric *fabric = sample->fabric;
	struct hd_builder *builder = hd_builder_from(fabric);
	unsigned share = pick(random, 2, 6);

	if (!builder)
		return hd_error_no_memory(err);
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host];
		if (pick(random, 1, share) == 1)
			hd_builder_unlink(builder, fabric->port_node[port],
					  hd_port_number(fabric, port));
	}
	note(sample, ", one in %u hosts unplugged", share);
	return replace(sample, builder, err);
}

/* A port of the switch without a cable, 0 if all have one. */
static uint32_t free_port(const struct hd_fabric *fabric, uint32_t sw)
{
	for (uint32_t port = 1; port <= hd_node_ports(fabric, sw); port++)
		if (fabric->peer[hd_port_index(fabric, sw, port)] == HD_NONE)
			return port;
	return 0;
}

static int add_host(struct hd_builder *builder, uint32_t sw, uint32_t port, struct hd_error *err)
{
	struct hd_node_spec spec = {.type = HD_CA, .guid = ADDED_GUID + sw, .port_count = 1};
	uint32_t host;
	int rc = hd_builder_add_node(builder, &spec, &host, err);

	return rc ? rc : hd_builder_link(builder, sw, port, host, 1, 4, HD_SPEED_EDR, err);
}

/* Adds one host each to up to four switches with a free port. */
static int add_hosts(struct sample *sample, uint64_t *random, struct hd_error *err)
{
	const struct hd_fabric *fabric = sample->fabric;
	struct hd_builder *builder = hd_builder_from(fabric);
	unsigned wanted = pick(random, 1, 4);
	int rc = 0;

	if (!builder)
		return hd_error_no_memory(err);
	note(sample, ", hosts added on");
	for (uint32_t sw = 0; sw < fabric->switch_count && wanted && !rc; sw++) {
		uint32_t port = free_port(fabric, sw);
		if (!port || pick(random, 0, 3))
			continue;
		wanted--;
		sample->upper_hosts |= sample->level && sample->level[sw] > 0;
		note(sample, " %s", fabric->node_name[sw]);
		rc = add_host(builder, sw, port, err);
	}
	if (!rc)
		return replace(sample, builder, err);
	hd_builder_free(builder);
	return rc;
}

static int add_aggregation(struct sample *sample, struct hd_error *err)
{
	struct hd_fabric *changed;
	int rc = hd_fabric_add_aggregation(sample->fabric, &changed, err);

	if (rc)
		return rc;
	note(sample, " --aggregation-nodes");
	hd_fabric_free(sample->fabric);
	sample->fabric = changed;
	sample->aggregation = true;
	return 0;
}

static int damage(struct sample *sample, uint64_t *random, struct hd_error *err)
{
	int rc = 0;

	sample->intact = true;
	if (pick(random, 0, 9) < 4) {
		sample->intact = false;
		rc = cut_links(sample, random, err);
	}
	if (!rc && pick(random, 0, 9) < 3) {
		sample->intact = false;
		rc = cut_hosts(sample, random, err);
	}
	if (!rc && !sample->intact && pick(random, 0, 3) == 0)
		rc = add_hosts(sample, random, err);
	return rc;
}

static int assign_lids(struct sample *sample, uint64_t *random, struct hd_error *err)
{
	struct hd_fabric *changed;

	sample->lmc = pick(random, 0, 9) < 6 ? 0 : pick(random, 1, 3);
	int rc = hd_fabric_assign_lids(sample->fabric, sample->lmc, &changed, err);
	if (rc)
		return rc;
	note(sample, " --lmc %u", sample->lmc);
	hd_fabric_free(sample->fabric);
	sample->fabric = changed;
	return 0;
}

int sample_draw(uint64_t number, struct sample *out, struct hd_error *err)
{
	bool aggregation = number >= SAMPLE_AGGREGATION;
	uint64_t plain = aggregation ? number - SAMPLE_AGGREGATION : number;
	uint64_t random = plain * UINT64_C(0x9E3779B97F4A7C15) + 1;
	const struct kind *kind = &kinds[sample_kind_of(number)];

	*out = (struct sample){.kind = kind->generator, .tree = kind->tree};
	int rc = generate(kind, &random, out, err);
	if (!rc && out->tree && !(out->level = facts_levels(out->fabric)))
		rc = hd_error_no_memory(err);
	if (!rc && aggregation)
		rc = add_aggregation(out, err);
	if (!rc)
		rc = damage(out, &random, err);
	/* In half of the damaged fabrics unplugged hosts keep their LIDs, which have no path then.
	 */
	if (!rc && (out->intact || pick(&random, 0, 1)))
		rc = assign_lids(out, &random, err);
	if (rc)
		sample_release(out);
	return rc;
}

void sample_release(struct sample *sample)
{
	hd_fabric_free(sample->fabric);
	free(sample->level);
	*sample = (struct sample){0};
}
