/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * topology.conf and topology.yaml for Slurm. In its topology/tree every switch has one parent. A fat tree has
 * several spines above each leaf, so a leaf stands for itself, and what lies above is made of
 * levels: leaves that switches up to a level connect are one block of that level. Blocks of a level
 * lie in blocks of the next one, so they are a tree for every fabric. A block that has a single
 * switch of its level has that switch's name; a block with a single child is left out.
 *
 * Its topology/block has a list of blocks, and joins 2, 4, 8 ... that follow one another. Here a block
 * is a leaf, and leaves of a block of the tree follow one another.
 */
#include "write_stream.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/fabric/write.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists of names in Slurm's short form: "node[08-10,12],login1". */

#define DIGITS_MAX 9 /* of a number that fits into 32 bits */
#define NAME_MOST 64 /* characters of a switch's name that Slurm takes */

/* A name as text before a number, and the number. */
struct split {
	size_t prefix, digits; /* characters */
	uint32_t number; /* 0 without digits */
};

static bool is_digit(char character)
{
	return character >= '0' && character <= '9';
}

static struct split split_of(const char *name)
{
	struct split split = {.prefix = strlen(name)};

	for (; split.prefix && split.digits < DIGITS_MAX && is_digit(name[split.prefix - 1]);
	     split.digits++)
		split.prefix--;
	for (size_t i = 0; i < split.digits; i++)
		split.number = split.number * 10 + (uint32_t)(name[split.prefix + i] - '0');
	return split;
}

static int compare(const void *left, const void *right)
{
	const char *a = *(const char *const *)left, *b = *(const char *const *)right;
	struct split one = split_of(a), other = split_of(b);
	size_t shared = one.prefix < other.prefix ? one.prefix : other.prefix;
	int order = memcmp(a, b, shared);

	if (!order && one.prefix != other.prefix)
		order = one.prefix < other.prefix ? -1 : 1;
	if (!order && one.number != other.number)
		order = one.number < other.number ? -1 : 1;
	return order ? order : (one.digits > other.digits) - (one.digits < other.digits);
}

static bool same_prefix(const char *a, const char *b)
{
	struct split one = split_of(a), other = split_of(b);

	return one.digits && other.digits && one.prefix == other.prefix &&
	       !memcmp(a, b, one.prefix);
}

/* Whether b follows a in a range. "n9" and "n10" do, "n09" and "n010" do not. */
static bool follows(const char *a, const char *b)
{
	struct split one = split_of(a), other = split_of(b);
	bool zeros = a[one.prefix] == '0' || b[other.prefix] == '0';

	return same_prefix(a, b) && other.number == one.number + 1 &&
	       (one.digits == other.digits || !zeros);
}

static void write_ranges(const char **names, uint32_t count, FILE *stream)
{
	size_t prefix = split_of(names[0]).prefix;

	fprintf(stream, "%.*s[", (int)prefix, names[0]);
	for (uint32_t begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1; end < count && follows(names[end - 1], names[end]);)
			end++;
		fprintf(stream, "%s%s", begin ? "," : "", names[begin] + prefix);
		if (end - begin > 1)
			fprintf(stream, "-%s", names[end - 1] + prefix);
	}
	fputc(']', stream);
}

/* Writes the names, which are sorted for that. Names that differ only in the number at their end
 * share a pair of brackets. Cost: O(count log count). */
static void write_hostlist(const char **names, uint32_t count, FILE *stream)
{
	qsort(names, count, sizeof(*names), compare);
	for (uint32_t begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1; end < count && same_prefix(names[begin], names[end]);)
			end++;
		if (begin)
			fputc(',', stream);
		if (end - begin > 1)
			write_ranges(names + begin, end - begin, stream);
		else
			fputs(names[begin], stream);
	}
}

/* A line of the file: a leaf with its nodes, or a block. */
struct vertex {
	const char *name;
	uint32_t sw; /* the switch whose name it has, or HD_NONE */
	uint32_t parent; /* vertex, or HD_NONE */
	uint32_t seat; /* a switch of the block */
};

struct named_host {
	const char *name;
	uint32_t host;
};

struct slurm {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	struct named_host *named; /* [host_count], by name */
	uint32_t named_count;
	const char **node; /* [host_count]: its name in the file, NULL: not in the file */
	uint32_t node_count, repeated;
	uint32_t *level; /* [switch_count] */
	uint32_t *set; /* [switch_count]: another switch of the set, or itself */
	uint32_t *children, *block; /* [switch_count], of sets, by their first switch */
	uint32_t *top_count, *top; /* the same: switches at the level of the block */
	struct vertex *vertices; /* [2 * switch_count] */
	uint32_t vertex_count, leaf_count;
	const char **list; /* [hosts, or vertices]: names for one line */
};

static int allocate(struct slurm *slurm, struct hd_error *err)
{
	struct hd_arena *arena = &slurm->arena;
	uint32_t hosts = slurm->fabric->host_count, switches = slurm->fabric->switch_count;

	slurm->named = hd_arena_alloc(arena, hosts, sizeof(*slurm->named));
	slurm->node = hd_arena_alloc(arena, hosts, sizeof(*slurm->node));
	slurm->level = hd_arena_alloc(arena, switches, sizeof(*slurm->level));
	slurm->set = hd_arena_alloc(arena, switches, sizeof(*slurm->set));
	slurm->children = hd_arena_alloc(arena, switches, sizeof(*slurm->children));
	slurm->block = hd_arena_alloc(arena, switches, sizeof(*slurm->block));
	slurm->top_count = hd_arena_alloc(arena, switches, sizeof(*slurm->top_count));
	slurm->top = hd_arena_alloc(arena, switches, sizeof(*slurm->top));
	slurm->vertices = hd_arena_alloc(arena, 2 * (size_t)switches, sizeof(*slurm->vertices));
	slurm->list = hd_arena_alloc(arena, hosts + 2 * (size_t)switches, sizeof(*slurm->list));
	return hd_arena_check(arena) ? hd_error_no_memory(err) : 0;
}

static bool suits(char character)
{
	return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
	       (character >= '0' && character <= '9') || (character && strchr("-_.", character));
}

/* The first word of the node's description, which is how adapters name their machine. */
static int name_host(struct slurm *slurm, uint32_t host, uint32_t node, struct hd_error *err)
{
	const char *given = slurm->fabric->node_name[node];
	size_t length = strcspn(given, " \t");
	char *name = hd_arena_alloc(&slurm->arena, length + 1, 1);

	if (!name)
		return hd_error_no_memory(err);
	memcpy(name, given, length);
	for (size_t i = 0; i < length; i++)
		if (!suits(name[i]))
			length = 0;
	if (!length)
		return hd_error_set(err, -EINVAL,
				    "node 0x%016" PRIx64 " is called '%s', which is no name of a "
				    "node in Slurm: a name map can give it one",
				    slurm->fabric->node_guid[node], given);
	slurm->named[slurm->named_count++] = (struct named_host){name, host};
	return 0;
}

static int compare_named(const void *left, const void *right)
{
	const struct named_host *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : (a->host > b->host) - (a->host < b->host);
}

/* A machine with several adapters is in the file once, at the leaf of its first host. */
static int name_hosts(struct slurm *slurm, struct hd_error *err)
{
	const struct hd_fabric *fabric = slurm->fabric;
	int rc = 0;

	for (uint32_t host = 0; !rc && host < fabric->host_count; host++) {
		uint32_t node = fabric->port_node[fabric->host_port[host]];
		if (fabric->node_type[node] == HD_CA)
			rc = name_host(slurm, host, node, err);
	}
	if (rc)
		return rc;
	qsort(slurm->named, slurm->named_count, sizeof(*slurm->named), compare_named);
	for (uint32_t i = 0; i < slurm->named_count; i++) {
		const struct named_host *named = &slurm->named[i];
		if (i && !strcmp(named->name, named[-1].name))
			slurm->repeated++;
		else
			slurm->node[named->host] = named->name;
	}
	slurm->node_count = slurm->named_count - slurm->repeated;
	return slurm->node_count ? 0
				 : hd_error_set(err, -ENODATA,
						"no node for Slurm: no adapter "
						"is cabled to a switch");
}

/* A vertex with a switch's name, in which characters with a meaning in Slurm become '_'. */
static void add_switch(struct slurm *slurm, uint32_t sw, uint32_t seat)
{
	const char *given = slurm->fabric->node_name[sw];
	char *name = hd_arena_strdup(&slurm->arena, *given ? given : "switch");

	for (char *at = name; at && *at; at++)
		if (!suits(*at))
			*at = '_';
	slurm->vertices[slurm->vertex_count++] =
	    (struct vertex){.name = name, .sw = sw, .parent = HD_NONE, .seat = seat};
}

static void add_block(struct slurm *slurm, uint32_t level, uint32_t number, uint32_t seat)
{
	char *name = hd_arena_alloc(&slurm->arena, 32, 1);

	if (name)
		snprintf(name, 32, "level%" PRIu32 "-%" PRIu32, level, number);
	slurm->vertices[slurm->vertex_count++] =
	    (struct vertex){.name = name, .sw = HD_NONE, .parent = HD_NONE, .seat = seat};
}

static int compare_names(const void *left, const void *right)
{
	const struct vertex *a = *(const struct vertex *const *)left;
	const struct vertex *b = *(const struct vertex *const *)right;

	return strcmp(a->name, b->name);
}

static const char *with_guid(struct slurm *slurm, const struct vertex *vertex)
{
	char *name = hd_arena_alloc(&slurm->arena, NAME_MOST + 1, 1);

	if (name)
		snprintf(name, NAME_MOST + 1, "%.*s-%016" PRIx64, NAME_MOST - 17, vertex->name,
			 slurm->fabric->node_guid[vertex->sw]);
	return name;
}

/* Switches whose names are not theirs alone get their GUID behind the name. */
static int make_unique(struct slurm *slurm, struct hd_error *err)
{
	uint32_t count = slurm->vertex_count;
	struct vertex **order = hd_arena_alloc(&slurm->arena, count, sizeof(struct vertex *));

	if (slurm->arena.failed)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < count; i++)
		order[i] = &slurm->vertices[i];
	qsort(order, count, sizeof(struct vertex *), compare_names);
	for (uint32_t begin = 0, end; begin < count; begin = end) {
		const char *name = order[begin]->name;
		for (end = begin + 1; end < count && !strcmp(order[end]->name, name);)
			end++;
		for (uint32_t i = begin; end - begin > 1 && i < end; i++)
			if (order[i]->sw != HD_NONE)
				order[i]->name = with_guid(slurm, order[i]);
	}
	return slurm->arena.failed ? hd_error_no_memory(err) : 0;
}

static uint32_t find(struct slurm *slurm, uint32_t sw)
{
	uint32_t *set = slurm->set;

	for (; set[sw] != sw; sw = set[sw])
		set[sw] = set[set[sw]];
	return sw;
}

/* Joins switches up to a level that are cabled to each other. */
static void join(struct slurm *slurm, uint32_t level)
{
	const struct hd_fabric *fabric = slurm->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (slurm->level[sw] != level)
			continue;
		for (uint32_t l = fabric->isl_base[sw]; l < fabric->isl_base[sw + 1]; l++)
			if (slurm->level[fabric->isl_to[l]] <= level)
				slurm->set[find(slurm, fabric->isl_to[l])] = find(slurm, sw);
	}
}

/* Counts in each set the vertices without a parent, and the switches of the level. */
static void count_sets(struct slurm *slurm, uint32_t level)
{
	uint32_t switches = slurm->fabric->switch_count;

	for (uint32_t sw = 0; sw < switches; sw++) {
		slurm->children[sw] = slurm->top_count[sw] = 0;
		slurm->block[sw] = HD_NONE;
	}
	for (uint32_t i = 0; i < slurm->vertex_count; i++)
		if (slurm->vertices[i].parent == HD_NONE)
			slurm->children[find(slurm, slurm->vertices[i].seat)]++;
	for (uint32_t sw = 0; sw < switches; sw++) {
		if (slurm->level[sw] != level)
			continue;
		uint32_t set = find(slurm, sw);
		slurm->top_count[set]++;
		slurm->top[set] = sw;
	}
}

/* Puts the vertices of each set with two or more of them below a new one. */
static void add_blocks(struct slurm *slurm, uint32_t level)
{
	uint32_t before = slurm->vertex_count, number = 0;

	for (uint32_t i = 0; i < before; i++) {
		struct vertex *vertex = &slurm->vertices[i];
		uint32_t set = find(slurm, vertex->seat);
		if (vertex->parent != HD_NONE || slurm->children[set] < 2)
			continue;
		if (slurm->block[set] == HD_NONE) {
			slurm->block[set] = slurm->vertex_count;
			if (level && slurm->top_count[set] == 1)
				add_switch(slurm, slurm->top[set], set);
			else
				add_block(slurm, level, ++number, set);
		}
		vertex->parent = slurm->block[set];
	}
}

static void add_leaves(struct slurm *slurm)
{
	const struct hd_fabric *fabric = slurm->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		bool listed = false;
		slurm->set[sw] = sw;
		for (uint32_t h = fabric->host_base[sw]; h < fabric->host_base[sw + 1]; h++)
			listed |= slurm->node[h] != NULL;
		if (listed)
			add_switch(slurm, sw, sw);
	}
	slurm->leaf_count = slurm->vertex_count;
}

static int make_tree(struct slurm *slurm, struct hd_error *err)
{
	uint32_t highest = 0;
	int rc = hd_fabric_levels(slurm->fabric, slurm->level, err);

	if (rc)
		return rc;
	for (uint32_t sw = 0; sw < slurm->fabric->switch_count; sw++)
		if (slurm->level[sw] != HD_NONE && slurm->level[sw] > highest)
			highest = slurm->level[sw];
	add_leaves(slurm);
	for (uint32_t level = 0; level <= highest; level++) {
		join(slurm, level);
		count_sets(slurm, level);
		add_blocks(slurm, level);
	}
	return make_unique(slurm, err);
}

/* The list of a leaf's nodes. */
static void write_nodes(struct slurm *slurm, const struct vertex *leaf, FILE *stream)
{
	const uint32_t *base = slurm->fabric->host_base;
	uint32_t count = 0;

	for (uint32_t host = base[leaf->sw]; host < base[leaf->sw + 1]; host++)
		if (slurm->node[host])
			slurm->list[count++] = slurm->node[host];
	write_hostlist(slurm->list, count, stream);
}

static void write_leaf(struct slurm *slurm, const struct vertex *leaf, FILE *stream)
{
	fprintf(stream, "SwitchName=%s Nodes=", leaf->name);
	write_nodes(slurm, leaf, stream);
	fputc('\n', stream);
}

/* The list of the vertices below a block. */
static void write_children(struct slurm *slurm, uint32_t block, FILE *stream)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < block; i++)
		if (slurm->vertices[i].parent == block)
			slurm->list[count++] = slurm->vertices[i].name;
	write_hostlist(slurm->list, count, stream);
}

static void write_block(struct slurm *slurm, uint32_t block, FILE *stream)
{
	fprintf(stream, "SwitchName=%s Switches=", slurm->vertices[block].name);
	write_children(slurm, block, stream);
	fputc('\n', stream);
}

static void write_lines(struct slurm *slurm, FILE *stream)
{
	fprintf(stream,
		"# For TopologyPlugin=topology/tree: %" PRIu32 " nodes on %" PRIu32
		" leaf switches\n",
		slurm->node_count, slurm->leaf_count);
	if (slurm->repeated)
		fprintf(stream,
			"# %" PRIu32
			" adapter ports are left out: their nodes are in the file already\n",
			slurm->repeated);
	for (uint32_t i = 0; i < slurm->leaf_count; i++)
		write_leaf(slurm, &slurm->vertices[i], stream);
	for (uint32_t i = slurm->leaf_count; i < slurm->vertex_count; i++)
		write_block(slurm, i, stream);
}

/* The nodes of the leaves of a vertex, leaf by leaf, with ascending weights. */
static void write_weights(struct slurm *slurm, uint32_t at, uint32_t *weight, FILE *stream)
{
	if (at < slurm->leaf_count) {
		fputs("NodeName=", stream);
		write_nodes(slurm, &slurm->vertices[at], stream);
		fprintf(stream, " Weight=%" PRIu32 "\n", ++*weight);
		return;
	}
	for (uint32_t i = 0; i < at; i++)
		if (slurm->vertices[i].parent == at)
			write_weights(slurm, i, weight, stream);
}

static void write_weight_lines(struct slurm *slurm, FILE *stream)
{
	uint32_t weight = 0;

	fprintf(stream,
		"# For slurm.conf, behind NodeName=DEFAULT: %" PRIu32 " nodes on %" PRIu32
		" leaf switches\n",
		slurm->node_count, slurm->leaf_count);
	for (uint32_t i = 0; i < slurm->vertex_count; i++)
		if (slurm->vertices[i].parent == HD_NONE)
			write_weights(slurm, i, &weight, stream);
}

#define SIZES_MAX 16 /* that Slurm takes */

/* The leaves in depth-first order: order[leaf_count]. For each vertex the part of the order that lies
 * below it: from[], to[]. */
struct blocks {
	uint32_t *order, *from, *to;
	uint32_t count; /* of leaves in the order up to now */
	uint32_t least; /* nodes of the smallest leaf */
	uint32_t sizes; /* powers of two that joined blocks may have, from 2^0 on */
};

static void visit(const struct slurm *slurm, uint32_t at, struct blocks *blocks)
{
	blocks->from[at] = blocks->count;
	if (at < slurm->leaf_count)
		blocks->order[blocks->count++] = at;
	for (uint32_t i = 0; at >= slurm->leaf_count && i < at; i++)
		if (slurm->vertices[i].parent == at)
			visit(slurm, i, blocks);
	blocks->to[at] = blocks->count;
}

/* Whether joined blocks of `size` leaves lie in a vertex, or have all of it. A vertex that has no
 * parent may be another fabric, so no joined block goes beyond it. */
static bool fits(const struct slurm *slurm, const struct blocks *blocks, uint32_t at, uint32_t size)
{
	uint32_t from = blocks->from[at], to = blocks->to[at];
	uint32_t before = from % size, behind = to == blocks->count ? 0 : to % size;

	if (slurm->vertices[at].parent == HD_NONE)
		return !before && !behind;
	return (!before || to <= from - before + size) && (!behind || from >= to - behind);
}

static uint32_t node_count(const struct slurm *slurm, const struct vertex *leaf)
{
	const uint32_t *base = slurm->fabric->host_base;
	uint32_t count = 0;

	for (uint32_t host = base[leaf->sw]; host < base[leaf->sw + 1]; host++)
		count += slurm->node[host] != NULL;
	return count;
}

static void size_blocks(const struct slurm *slurm, struct blocks *blocks)
{
	blocks->least = UINT32_MAX;
	for (uint32_t i = 0; i < slurm->leaf_count; i++) {
		uint32_t count = node_count(slurm, &slurm->vertices[i]);
		blocks->least = count < blocks->least ? count : blocks->least;
	}
	for (bool good = true;
	     good && blocks->sizes < SIZES_MAX && 1u << blocks->sizes <= slurm->leaf_count;
	     blocks->sizes += good)
		for (uint32_t i = 0; good && i < slurm->vertex_count; i++)
			good = fits(slurm, blocks, i, 1u << blocks->sizes);
}

/* False: no memory. */
static bool make_blocks(struct slurm *slurm, struct blocks *blocks)
{
	struct hd_arena *arena = &slurm->arena;

	*blocks =
	    (struct blocks){.order = hd_arena_alloc(arena, slurm->leaf_count, sizeof(uint32_t)),
			    .from = hd_arena_alloc(arena, slurm->vertex_count, sizeof(uint32_t)),
			    .to = hd_arena_alloc(arena, slurm->vertex_count, sizeof(uint32_t))};
	if (arena->failed)
		return false;
	for (uint32_t i = 0; i < slurm->vertex_count; i++)
		if (slurm->vertices[i].parent == HD_NONE)
			visit(slurm, i, blocks);
	size_blocks(slurm, blocks);
	return true;
}

static void write_block_lines(struct slurm *slurm, FILE *stream)
{
	struct blocks blocks;

	if (!make_blocks(slurm, &blocks))
		return;
	fprintf(stream,
		"# For TopologyPlugin=topology/block: %" PRIu32
		" nodes; a block is a leaf switch\n",
		slurm->node_count);
	for (uint32_t i = 0; i < blocks.count; i++) {
		const struct vertex *leaf = &slurm->vertices[blocks.order[i]];
		fprintf(stream, "BlockName=%s Nodes=", leaf->name);
		write_nodes(slurm, leaf, stream);
		fputc('\n', stream);
	}
	for (uint32_t i = 0; i < blocks.sizes; i++)
		fprintf(stream, "%s%" PRIu64, i ? "," : "BlockSizes=", (uint64_t)blocks.least << i);
	fputc('\n', stream);
}

static void write_yaml_tree(struct slurm *slurm, FILE *stream)
{
	fputs("- topology: tree\n  cluster_default: true\n  tree:\n    switches:\n", stream);
	for (uint32_t i = 0; i < slurm->vertex_count; i++) {
		const struct vertex *vertex = &slurm->vertices[i];
		bool leaf = i < slurm->leaf_count;
		fprintf(stream, "      - switch: \"%s\"\n        %s: \"", vertex->name,
			leaf ? "nodes" : "children");
		if (leaf)
			write_nodes(slurm, vertex, stream);
		else
			write_children(slurm, i, stream);
		fputs("\"\n", stream);
	}
}

static void write_yaml_blocks(struct slurm *slurm, const struct blocks *blocks, FILE *stream)
{
	fputs("- topology: block\n  cluster_default: false\n  block:\n    block_sizes:\n", stream);
	for (uint32_t i = 0; i < blocks->sizes; i++)
		fprintf(stream, "      - %" PRIu64 "\n", (uint64_t)blocks->least << i);
	fputs("    blocks:\n", stream);
	for (uint32_t i = 0; i < blocks->count; i++) {
		const struct vertex *leaf = &slurm->vertices[blocks->order[i]];
		fprintf(stream, "      - block: \"%s\"\n        nodes: \"", leaf->name);
		write_nodes(slurm, leaf, stream);
		fputs("\"\n", stream);
	}
}

static void write_yaml(struct slurm *slurm, FILE *stream)
{
	struct blocks blocks;

	if (!make_blocks(slurm, &blocks))
		return;
	fprintf(stream,
		"# topology.yaml of Slurm 25.05 or later: %" PRIu32 " nodes on %" PRIu32
		" leaf switches\n---\n",
		slurm->node_count, slurm->leaf_count);
	write_yaml_tree(slurm, stream);
	write_yaml_blocks(slurm, &blocks, stream);
}

static int write_file(const struct hd_fabric *fabric, FILE *stream,
		      void (*lines)(struct slurm *, FILE *), struct hd_error *err)
{
	struct slurm slurm = {.fabric = fabric};
	int rc = allocate(&slurm, err);

	if (!rc)
		rc = name_hosts(&slurm, err);
	if (!rc)
		rc = make_tree(&slurm, err);
	if (!rc) {
		errno = 0;
		lines(&slurm, stream);
		rc =
		    slurm.arena.failed ? hd_error_no_memory(err) : write_stream_finish(stream, err);
	}
	hd_arena_release(&slurm.arena);
	return rc;
}

int hd_fabric_write_slurm(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err)
{
	return write_file(fabric, stream, write_lines, err);
}

int hd_fabric_write_slurm_weights(const struct hd_fabric *fabric, FILE *stream,
				  struct hd_error *err)
{
	return write_file(fabric, stream, write_weight_lines, err);
}

int hd_fabric_write_slurm_blocks(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err)
{
	return write_file(fabric, stream, write_block_lines, err);
}

int hd_fabric_write_slurm_yaml(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err)
{
	return write_file(fabric, stream, write_yaml, err);
}
