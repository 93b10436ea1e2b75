/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which ranks take part in the collective operations of a Chakra trace. */
#include "chakra.h"
#include "chakra_file.h"
#include "traffic_exchange.h"
#include <heddle/base/error.h>
#include <heddle/base/index.h>
#include <heddle/base/lookup.h>
#include <stdbool.h>

#include <errno.h>
#include <heddle/analysis/schedule_maker.h>
#include <heddle/base/grow.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct chakra_member {
	uint32_t rank;
	uint32_t count; /* operations of the group in its trace */
	uint32_t done; /* of them, up to now */
};

/* A process group: the ranks whose traces have operations with its name. The k-th operation of one
 * is the k-th of all. */
struct chakra_group {
	char *name;
	uint32_t first; /* number of its first operation, among those of all groups */
	uint32_t count, room;
	struct chakra_member *members; /* [count] in order of ranks */
};

/* Zero-initialise before use. */
struct chakra_groups {
	struct chakra_group *groups;
	uint32_t count, room;
	struct hd_lookup names;
};

void chakra_groups_release(struct chakra_groups *groups);

struct searched {
	const struct chakra_groups *groups;
	const char *name;
};

static bool has_name(const void *context, uint32_t index)
{
	const struct searched *searched = context;

	return !strcmp(searched->groups->groups[index].name, searched->name);
}

static uint32_t chakra_find(const struct chakra_groups *groups, const char *name)
{
	struct searched searched = {groups, name};

	return hd_lookup_find(&groups->names, hd_hash_bytes(name, strlen(name)), has_name,
			      &searched);
}

static int add_group(struct chakra_groups *groups, const char *name, uint32_t *index)
{
	struct chakra_group *grown =
	    hd_grow(groups->groups, groups->count, 1, &groups->room, sizeof(*grown));
	char *copy = grown ? strdup(name) : NULL;

	if (grown)
		groups->groups = grown;
	if (!copy ||
	    hd_lookup_add(&groups->names, hd_hash_bytes(name, strlen(name)), groups->count)) {
		free(copy);
		return -ENOMEM;
	}
	groups->groups[groups->count] = (struct chakra_group){.name = copy};
	*index = groups->count++;
	return 0;
}

/* Counts an operation of a rank; ranks come in order. Errors: -ENOMEM. */
static int chakra_groups_note(struct chakra_groups *groups, const char *name, uint32_t rank)
{
	uint32_t index = chakra_find(groups, name);

	if (index == HD_NONE && add_group(groups, name, &index))
		return -ENOMEM;
	struct chakra_group *group = &groups->groups[index];
	if (!group->count || group->members[group->count - 1].rank != rank) {
		struct chakra_member *members =
		    hd_grow(group->members, group->count, 1, &group->room, sizeof(*members));
		if (!members)
			return -ENOMEM;
		group->members = members;
		members[group->count++] = (struct chakra_member){.rank = rank};
	}
	group->members[group->count - 1].count++;
	return 0;
}

/* Numbers the operations. Errors: -EINVAL ranks of a group have different numbers of them, -ERANGE. */
static int chakra_groups_number(struct chakra_groups *groups, struct hd_error *err)
{
	uint64_t number = 0;

	for (uint32_t i = 0; i < groups->count; i++) {
		struct chakra_group *group = &groups->groups[i];
		const struct chakra_member *first = group->members;
		group->first = (uint32_t)number;
		number += first->count;
		if (number >= UINT64_C(1) << 31)
			return hd_error_set(err, -ERANGE, "more than 2^31 collective operations");
		for (uint32_t m = 1; m < group->count; m++)
			if (group->members[m].count != first->count)
				return hd_error_set(
				    err, -EINVAL,
				    "process group '%s': rank %" PRIu32 " has %" PRIu32
				    " collective operations, but rank %" PRIu32 " has %" PRIu32,
				    group->name, first->rank, first->count, group->members[m].rank,
				    group->members[m].count);
	}
	return 0;
}

/* The rank as a member of the group of that name. NULL: it is none. */
static struct chakra_member *chakra_groups_find(const struct chakra_groups *groups,
						const char *name, uint32_t rank,
						const struct chakra_group **group)
{
	uint32_t index = chakra_find(groups, name), low = 0;

	if (index == HD_NONE)
		return NULL;
	*group = &groups->groups[index];
	for (uint32_t high = (*group)->count; high - low > 1;) {
		uint32_t middle = low + (high - low) / 2;
		if ((*group)->members[middle].rank <= rank)
			low = middle;
		else
			high = middle;
	}
	struct chakra_member *member = &(*group)->members[low];
	return member->rank == rank ? member : NULL;
}

void chakra_groups_release(struct chakra_groups *groups)
{
	for (uint32_t i = 0; i < groups->count; i++) {
		free(groups->groups[i].name);
		free(groups->groups[i].members);
	}
	free(groups->groups);
	hd_lookup_release(&groups->names);
}

#define NS_PER_MICRO 1000u
#define WAITS_OF_OPERATION 4 /* dependencies on average, at most: real traces have one to three */
#define COLLECTIVE_TAGS 0x80000000u /* tags of collective operations begin here */

/* A node of the open rank, as operations. */
struct made_node {
	uint64_t id;
	uint32_t begin, end; /* the operation that waits, and the one that others wait for */
};

struct dependency {
	uint32_t node; /* index of the one that waits */
	uint64_t on; /* id */
};

struct reader {
	const char *prefix;
	const struct chakra_bytes *files; /* NULL: PREFIX.RANK.et */
	uint32_t ranks, rank;
	uint32_t operations_most;
	uint64_t dependencies_seen; /* in the files of all ranks */
	struct chakra_groups groups;
	struct hd_schedule_maker maker;
	struct made_node *nodes; /* of the open rank, and so on */
	struct dependency *dependencies;
	uint32_t node_count, node_room, dependency_count, dependency_room;
	struct hd_lookup ids;
	struct hd_error *err;
};

static int chakra_add(struct reader *reader, const Chakra__Node *node,
		      struct hd_schedule_operation operation, uint32_t *index)
{
	operation.line = (uint32_t)node->id;
	if (reader->maker.made->operation_count >= reader->operations_most)
		return hd_error_set(reader->err, -ERANGE,
				    "more than %" PRIu32
				    " operations: a collective operation has one "
				    "for each message; the option 'operations' raises this limit",
				    reader->operations_most);
	return hd_schedule_add(&reader->maker, &operation, NULL, index)
		   ? hd_error_no_memory(reader->err)
		   : 0;
}

static int calculate(struct reader *reader, const Chakra__Node *node, enum chakra_cpu cpu,
		     uint64_t micros, uint32_t *index)
{
	if (micros > UINT64_MAX / NS_PER_MICRO)
		return hd_error_set(reader->err, -ERANGE, "a duration of %" PRIu64 " microseconds",
				    micros);
	return chakra_add(reader, node,
			  (struct hd_schedule_operation){.action = HD_SCHEDULE_CALCULATE,
							 .amount = micros * NS_PER_MICRO,
							 .cpu = (uint8_t)cpu},
			  index);
}

/* `after` waits for the operations first .. end - 1. */
static int wait_for(struct reader *reader, uint32_t after, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (hd_schedule_wait(&reader->maker, after, i, false))
			return hd_error_no_memory(reader->err);
	return 0;
}

/* A number that the node must have, at most `most`. */
static int need(struct reader *reader, const Chakra__Node *node, const char *name, uint64_t most,
		uint64_t *number)
{
	int rc = chakra_file_number(node, name, number, reader->err);

	if (rc < 0)
		return rc;
	if (!rc)
		return hd_error_set(reader->err, -EINVAL, "attribute %s is missing", name);
	if (*number > most)
		return hd_error_set(reader->err, -ERANGE,
				    "attribute %s is %" PRIu64 ", expected at most %" PRIu64, name,
				    *number, most);
	return 0;
}

static int take_message(struct reader *reader, const Chakra__Node *node, uint32_t *index)
{
	bool send = node->type == CHAKRA_SEND;
	uint64_t size = 0, peer = 0, tag = 0;
	int rc = need(reader, node, "comm_size", UINT32_MAX, &size);

	if (!rc)
		rc = need(reader, node, send ? "comm_dst" : "comm_src", reader->ranks - 1, &peer);
	if (!rc && (rc = chakra_file_number(node, "comm_tag", &tag, reader->err)) > 0)
		rc = 0;
	if (!rc && tag >= COLLECTIVE_TAGS)
		rc = hd_error_set(reader->err, -ERANGE, "attribute comm_tag is above 2^31");
	return rc ? rc
		  : chakra_add(reader, node,
			       (struct hd_schedule_operation){.action = send ? HD_SCHEDULE_SEND
									     : HD_SCHEDULE_RECEIVE,
							      .amount = size,
							      .peer = (uint32_t)peer,
							      .tag = (uint32_t)tag,
							      .cpu = CHAKRA_MESSAGES},
			       index);
}

struct collective {
	const Chakra__Node *node;
	const struct chakra_group *group;
	enum exchange exchange;
	uint64_t bytes;
	uint32_t place, tag;
	uint32_t first, end; /* operations that the next step waits for */
};

/* Which steps it has, and of how many bytes. */
static int choose_steps(struct reader *reader, struct collective *collective, uint64_t type,
			uint64_t size)
{
	static const enum exchange exchanges[CHAKRA_COLLECTIVE_END] = {
	    [CHAKRA_ALL_REDUCE] = EXCHANGE_ALL_REDUCE,
	    [CHAKRA_REDUCE] = EXCHANGE_REDUCE,
	    [CHAKRA_ALL_GATHER] = EXCHANGE_ALL_GATHER,
	    [CHAKRA_GATHER] = EXCHANGE_GATHER,
	    [CHAKRA_SCATTER] = EXCHANGE_SCATTER,
	    [CHAKRA_BROADCAST] = EXCHANGE_BROADCAST,
	    [CHAKRA_ALL_TO_ALL] = EXCHANGE_ALL_TO_ALL,
	    /* on a ring, the messages of an all-gather, the other way around */
	    [CHAKRA_REDUCE_SCATTER] = EXCHANGE_ALL_GATHER_RING,
	    [CHAKRA_REDUCE_SCATTER_BLOCK] = EXCHANGE_ALL_GATHER_RING,
	    [CHAKRA_BARRIER] = EXCHANGE_BARRIER,
	};
	uint32_t ranks = collective->group->count;

	if (type >= CHAKRA_COLLECTIVE_END)
		return hd_error_set(reader->err, -EINVAL,
				    "attribute comm_type is %" PRIu64 ", expected 0 .. %d", type,
				    CHAKRA_COLLECTIVE_END - 1);
	if (size > (UINT64_C(1) << 40))
		return hd_error_set(reader->err, -ERANGE, "attribute comm_size is above 1 TiB");
	bool parts = type == CHAKRA_ALL_TO_ALL || type == CHAKRA_REDUCE_SCATTER ||
		     type == CHAKRA_REDUCE_SCATTER_BLOCK;
	collective->exchange = exchanges[type];
	collective->bytes = parts ? (size + ranks - 1) / ranks : size;
	return 0;
}

static int add_step_message(struct reader *reader, const struct collective *collective,
			    enum hd_schedule_action action, uint32_t place, uint64_t bytes)
{
	uint32_t index;
	struct hd_schedule_operation operation = {.action = (uint8_t)action,
						  .amount = bytes,
						  .peer = collective->group->members[place].rank,
						  .tag = collective->tag,
						  .cpu = CHAKRA_MESSAGES};
	int rc = chakra_add(reader, collective->node, operation, &index);

	return rc ? rc : wait_for(reader, index, collective->first, collective->end);
}

static int add_step(struct reader *reader, struct collective *collective,
		    const struct exchange_step *step)
{
	int rc = 0;

	if (step->bytes > UINT32_MAX)
		return hd_error_set(reader->err, -ERANGE,
				    "a message of %" PRIu64 " bytes, expected less than 4 GiB",
				    step->bytes);
	if (step->from != HD_NONE)
		rc = add_step_message(reader, collective, HD_SCHEDULE_RECEIVE, step->from,
				      step->bytes);
	if (!rc && step->to != HD_NONE)
		rc = add_step_message(reader, collective, HD_SCHEDULE_SEND, step->to, step->bytes);
	return rc;
}

static int take_collective(struct reader *reader, const Chakra__Node *node, struct made_node *made)
{
	struct collective collective = {.node = node};
	uint64_t type = 0, size = 0;
	int rc = need(reader, node, "comm_type", UINT64_MAX, &type);

	struct chakra_member *member = chakra_groups_find(
	    &reader->groups, chakra_file_text(node, "pg_name"), reader->rank, &collective.group);
	if (!member || member->done == member->count)
		return hd_error_set(reader->err, -EAGAIN, "the file changed while it was read");
	collective.place = (uint32_t)(member - collective.group->members);
	collective.tag = COLLECTIVE_TAGS + collective.group->first + member->done++;
	if (!rc && type != CHAKRA_BARRIER)
		rc = need(reader, node, "comm_size", UINT64_MAX, &size);
	if (!rc)
		rc = choose_steps(reader, &collective, type, size);
	if (!rc)
		rc = calculate(reader, node, CHAKRA_MESSAGES, 0, &made->begin);
	collective.first = made->begin;
	collective.end = made->begin + 1;
	/* Adds the steps, each of which waits for those before it; *end waits for the last ones. */
	uint32_t *end = &made->end;
	if (rc)
		return rc;
	struct exchange_step step;
	uint32_t since = collective.end; /* operations of steps for which nobody waits yet */
	rc = 0;
	for (uint32_t i = 0; !rc && exchange_step(collective.exchange, collective.group->count,
						  collective.place, 0, collective.bytes, i, &step);
	     i++) {
		rc = add_step(reader, &collective, &step);
		uint32_t now = reader->maker.made->operation_count;
		if (step.wait && now > since) {
			collective.first = since;
			collective.end = since = now;
		}
	}
	if (!rc)
		rc = calculate(reader, collective.node, CHAKRA_MESSAGES, 0, end);
	if (!rc)
		rc = wait_for(reader, *end, collective.first, collective.end);
	return rc ? rc : wait_for(reader, *end, since, *end);
}

static bool has_id(const void *context, uint32_t index)
{
	const struct made_node *const *searched = context;

	return searched[0][index].id == searched[1]->id;
}

static uint32_t find_node(const struct reader *reader, uint64_t id)
{
	const struct made_node wanted = {.id = id};
	const struct made_node *const searched[] = {reader->nodes, &wanted};

	return hd_lookup_find(&reader->ids, hd_hash_number(id), has_id, searched);
}

static int add_dependencies(struct reader *reader, const uint64_t *on, size_t count)
{
	const uint64_t most = (uint64_t)reader->operations_most * WAITS_OF_OPERATION;

	reader->dependencies_seen += count;
	if (reader->dependencies_seen > most)
		return hd_error_set(reader->err, -ERANGE,
				    "more than %" PRIu64 " dependencies, %d for each operation "
				    "allowed; the option 'operations' raises this limit",
				    most, WAITS_OF_OPERATION);
	for (size_t i = 0; i < count; i++) {
		struct dependency *dependencies =
		    hd_grow(reader->dependencies, reader->dependency_count, 1,
			    &reader->dependency_room, sizeof(*dependencies));
		if (!dependencies)
			return hd_error_no_memory(reader->err);
		reader->dependencies = dependencies;
		dependencies[reader->dependency_count++] =
		    (struct dependency){reader->node_count, on[i]};
	}
	return 0;
}

static int take_operations(struct reader *reader, const Chakra__Node *node, struct made_node *made)
{
	uint64_t host = 0;
	int rc = 0;

	switch ((enum chakra_type)node->type) {
	case CHAKRA_SEND:
	case CHAKRA_RECEIVE:
		rc = take_message(reader, node, &made->begin);
		break;
	case CHAKRA_COLLECTIVE:
		return take_collective(reader, node, made);
	case CHAKRA_COMPUTE:
		rc = chakra_file_number(node, "is_cpu_op", &host, reader->err);
		if (rc >= 0)
			rc = calculate(reader, node, host ? CHAKRA_HOST : CHAKRA_GPU,
				       node->duration_micros, &made->begin);
		break;
	case CHAKRA_LOAD:
	case CHAKRA_STORE:
		rc = calculate(reader, node, CHAKRA_MEMORY, node->duration_micros, &made->begin);
		break;
	default:
		rc = calculate(reader, node, CHAKRA_MESSAGES, 0, &made->begin);
	}
	made->end = made->begin;
	return rc;
}

static int take_node(void *context, const Chakra__Node *node, struct hd_error *err)
{
	struct reader *reader = context;
	struct made_node made = {.id = node->id};

	if (node->id > UINT32_MAX)
		return hd_error_set(err, -ERANGE, "expected an id below 2^32");
	if (find_node(reader, node->id) != HD_NONE)
		return hd_error_set(err, -EINVAL, "a node before has the same id");
	struct made_node *nodes =
	    hd_grow(reader->nodes, reader->node_count, 1, &reader->node_room, sizeof(*nodes));
	if (!nodes)
		return hd_error_no_memory(err);
	reader->nodes = nodes;
	int rc = take_operations(reader, node, &made);
	if (!rc)
		rc = add_dependencies(reader, node->ctrl_deps, node->n_ctrl_deps);
	if (!rc)
		rc = add_dependencies(reader, node->data_deps, node->n_data_deps);
	if (rc)
		return rc;
	nodes[reader->node_count] = made;
	return hd_lookup_add(&reader->ids, hd_hash_number(node->id), reader->node_count++)
		   ? hd_error_no_memory(err)
		   : 0;
}

static int note_node(void *context, const Chakra__Node *node, struct hd_error *err)
{
	struct reader *reader = context;

	if (node->type == CHAKRA_COLLECTIVE &&
	    chakra_groups_note(&reader->groups, chakra_file_text(node, "pg_name"), reader->rank))
		return hd_error_no_memory(err);
	return 0;
}

static int visit_file(struct reader *reader, chakra_visit *visit)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s.%" PRIu32 ".et", reader->prefix, reader->rank);
	if (!reader->files)
		return chakra_file_nodes(path, visit, reader, reader->err);
	const struct chakra_bytes *file = &reader->files[reader->rank];
	return chakra_file_parse(file->bytes, file->length, path, visit, reader, reader->err);
}

static int take_dependencies(struct reader *reader)
{
	for (uint32_t i = 0; i < reader->dependency_count; i++) {
		const struct dependency *dependency = &reader->dependencies[i];
		const struct made_node *node = &reader->nodes[dependency->node];
		uint32_t on = find_node(reader, dependency->on);
		if (on == HD_NONE)
			return hd_error_set(reader->err, -EINVAL,
					    "%s.%" PRIu32 ".et: node %" PRIu64
					    ": it waits for node %" PRIu64 ", which does not exist",
					    reader->prefix, reader->rank, node->id, dependency->on);
		if (hd_schedule_wait(&reader->maker, node->begin, reader->nodes[on].end, false))
			return hd_error_no_memory(reader->err);
	}
	return 0;
}

static int read_rank(struct reader *reader)
{
	hd_schedule_open(&reader->maker, reader->rank);
	reader->node_count = reader->dependency_count = 0;
	int rc = visit_file(reader, take_node);
	if (!rc)
		rc = take_dependencies(reader);
	hd_lookup_release(&reader->ids);
	return rc ? rc : hd_schedule_close(&reader->maker, reader->err);
}

static int read_all(struct reader *reader, struct hd_schedule **out)
{
	int rc = 0;

	for (reader->rank = 0; !rc && reader->rank < reader->ranks; reader->rank++)
		rc = visit_file(reader, note_node);
	if (!rc && (rc = chakra_groups_number(&reader->groups, reader->err)))
		rc = hd_error_prefix(reader->err, rc, "%s", reader->prefix);
	if (!rc)
		rc = hd_schedule_begin(&reader->maker, reader->prefix, reader->ranks, reader->err);
	if (!rc)
		reader->maker.made->nodes = true;
	for (reader->rank = 0; !rc && reader->rank < reader->ranks; reader->rank++)
		rc = read_rank(reader);
	if (rc)
		return rc;
	struct hd_schedule *made = hd_schedule_end(&reader->maker);
	if (!made)
		return hd_error_set(reader->err, -ENODATA, "%s.0.et: no node", reader->prefix);
	*out = made;
	return 0;
}

int chakra_parse(const struct chakra_bytes *files, uint32_t count, const char *prefix,
		 uint32_t operations_most, struct hd_schedule **out, struct hd_error *err)
{
	struct reader reader = {.prefix = prefix,
				.files = files,
				.ranks = count,
				.operations_most = operations_most,
				.err = err};
	int rc = read_all(&reader, out);

	hd_schedule_release(&reader.maker);
	chakra_groups_release(&reader.groups);
	hd_lookup_release(&reader.ids);
	free(reader.nodes);
	free(reader.dependencies);
	return rc;
}

int chakra_read(const char *prefix, uint32_t operations_most, struct hd_schedule **out,
		struct hd_error *err)
{
	char path[PATH_MAX];
	uint32_t ranks = 0;

	if (strlen(prefix) >= PATH_MAX - sizeof(".4294967295.et"))
		return hd_error_set(err, -ENAMETOOLONG, "%.40s...: the path is too long", prefix);
	do
		snprintf(path, sizeof(path), "%s.%" PRIu32 ".et", prefix, ranks);
	while (!access(path, F_OK) && ++ranks < HD_SCHEDULE_RANKS_MAX);
	/* without the first file, its reader says why */
	return chakra_parse(NULL, ranks ? ranks : 1, prefix, operations_most, out, err);
}
