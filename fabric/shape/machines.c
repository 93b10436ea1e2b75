/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each source gives every host a key: a text, a GUID, or a machine of the file. A sort brings hosts
 * of one key together, in the order of their rails.
 */
#include <heddle/fabric/machines.h>

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/base/lookup.h>
#include <heddle/base/text.h>
#include <heddle/fabric/resolve.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
	const char *at;
	size_t length;
};

/* A host and its keys. */
struct member {
	uint32_t host, port;
	uint64_t guid; /* of the node */
	const char *full; /* its name */
	struct part machine, device; /* of the name; machine.length 0: it has not that form */
	uint32_t number; /* at the end of the device */
	/* What the source at hand says: hosts with one key are in one machine. */
	uint64_t key;
	struct part text; /* if the key is a text; else length 0 */
	uint32_t place; /* in the file */
};

struct grouping {
	const struct hd_fabric *fabric;
	enum hd_machines_by by;
	struct member *members; /* [host_count] */
	uint32_t count;
	struct hd_arena arena;
	struct hd_error *err;
};

struct owned {
	struct hd_machines shown;
	struct hd_arena arena;
};

/* ---- names ---- */

static bool is_digit(char letter)
{
	return letter >= '0' && letter <= '9';
}

/* A name, without its number, that drivers or administrators give to devices. */
static bool is_device(struct part text)
{
	static const char *const devices[] = {"mlx4_", "mlx5_", "mlx5_bond_", "HCA-", "HCA",
					      "hfi1_", "qib",	"ib",	      "nic",  "rail"};

	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
		if (strlen(devices[i]) == text.length &&
		    !strncasecmp(text.at, devices[i], text.length))
			return true;
	return false;
}

/* Takes the device off the end of a name; false: the name does not have this form. */
static bool cut_at(struct member *member, const char *separator, const char *number)
{
	struct part device = {separator + 1, (size_t)(number - separator - 1)};
	struct part machine = {member->full, (size_t)(separator - member->full)};

	while (machine.length && machine.at[machine.length - 1] == ' ')
		machine.length--;
	if (!machine.length || !device.length)
		return false;
	if (*separator == ' ' ? !strchr(device.at, ' ') && !is_digit(*device.at)
			      : is_device(device)) {
		member->machine = machine;
		member->device = device;
		return true;
	}
	return false;
}

static void split_name(struct member *member)
{
	const char *end = member->full + strlen(member->full), *number = end;

	while (number > member->full && is_digit(number[-1]))
		number--;
	if (number == end || end - number > 9)
		return;
	for (const char *at = number; at > member->full;) {
		if (strchr(" -_/:.", *--at) && cut_at(member, at, number))
			break;
	}
	member->number = (uint32_t)strtoul(number, NULL, 10);
}

/* ---- order ---- */

static int compare_parts(struct part one, struct part other)
{
	size_t common = one.length < other.length ? one.length : other.length;
	int order = common ? memcmp(one.at, other.at, common) : 0;

	return order ? order : (one.length > other.length) - (one.length < other.length);
}

static int compare_numbers(uint64_t one, uint64_t other)
{
	return (one > other) - (one < other);
}

static int compare_keys(const struct member *one, const struct member *other)
{
	int order = compare_parts(one->text, other->text);

	return order ? order : compare_numbers(one->key, other->key);
}

static int by_rail(const void *one, const void *other)
{
	const struct member *a = one, *b = other;
	int order = compare_keys(a, b);

	if (!order)
		order = compare_numbers(a->place, b->place);
	if (!order)
		order = compare_parts(a->device, b->device);
	if (!order)
		order = compare_numbers(a->number, b->number);
	if (!order)
		order = compare_numbers(a->guid, b->guid);
	return order ? order : compare_numbers(a->port, b->port);
}

static void sort_members(struct grouping *grouping)
{
	if (grouping->count)
		qsort(grouping->members, grouping->count, sizeof(*grouping->members), by_rail);
}

/* One past the last member that is in the machine of member `first`. */
static uint32_t end_of_machine(const struct grouping *grouping, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < grouping->count &&
	       !compare_keys(&grouping->members[first], &grouping->members[end]))
		end++;
	return end;
}

/* ---- what the members are ---- */

static bool is_adapter(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->node_type[fabric->port_node[fabric->host_port[host]]] == HD_CA;
}

static int begin(struct grouping *grouping, const struct hd_fabric *fabric, struct hd_error *err)
{
	*grouping = (struct grouping){.fabric = fabric, .count = fabric->host_count, .err = err};
	grouping->members =
	    hd_arena_alloc(&grouping->arena, fabric->host_count, sizeof(*grouping->members));
	if (!grouping->members)
		return hd_error_no_memory(err);
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host], node = fabric->port_node[port];
		struct member *member = &grouping->members[host];
		*member = (struct member){.host = host,
					  .port = hd_port_number(fabric, port),
					  .guid = fabric->node_guid[node],
					  .full = fabric->node_name[node]};
		if (is_adapter(fabric, host))
			split_name(member);
	}
	return 0;
}

/* A machine has two adapters; two ports of one adapter say nothing. */
static int check_sizes(struct grouping *grouping, const char *reason)
{
	for (uint32_t i = 1; i < grouping->count; i++)
		if (!compare_keys(&grouping->members[i - 1], &grouping->members[i]) &&
		    grouping->members[i - 1].guid != grouping->members[i].guid)
			return 0;
	return hd_error_set(grouping->err, -ENODATA, "%s", reason);
}

/* ---- by name ---- */

static int check_names(struct grouping *grouping)
{
	for (uint32_t i = 1; i < grouping->count; i++) {
		const struct member *one = &grouping->members[i - 1], *other = one + 1;
		if (one->text.length && !compare_keys(one, other) && one->guid != other->guid &&
		    one->number == other->number && !compare_parts(one->device, other->device))
			return hd_error_set(grouping->err, -ENODATA,
					    "two adapters are called '%s', GUIDs 0x%" PRIx64
					    " and 0x%" PRIx64,
					    one->full, one->guid, other->guid);
	}
	return check_sizes(grouping, "no two adapters have names of one machine, such as "
				     "'gpu01 mlx5_0' and 'gpu01 mlx5_1'");
}

static int group_by_name(struct grouping *grouping)
{
	grouping->by = HD_MACHINES_NAME;
	for (uint32_t i = 0; i < grouping->count; i++) {
		struct member *member = &grouping->members[i];
		member->text = member->machine;
		member->key = member->text.length ? 0 : member->guid;
	}
	sort_members(grouping);
	return check_names(grouping);
}

/* ---- by system image GUID ---- */

static int compare_guids(const void *one, const void *other)
{
	return compare_numbers(*(const uint64_t *)one, *(const uint64_t *)other);
}

/* The system image GUIDs of switches, ascending. NULL: no memory. */
static uint64_t *list_switches(struct grouping *grouping)
{
	const struct hd_fabric *fabric = grouping->fabric;
	uint64_t *guids = hd_arena_alloc(&grouping->arena, fabric->switch_count, sizeof(*guids));

	for (uint32_t sw = 0; guids && sw < fabric->switch_count; sw++)
		guids[sw] = fabric->system_guid[sw];
	if (guids && fabric->switch_count)
		qsort(guids, fabric->switch_count, sizeof(*guids), compare_guids);
	return guids;
}

/* True if the names of two adapters say that they are in different machines. */
static bool names_differ(const struct member *one, const struct member *other)
{
	return one->machine.length && other->machine.length &&
	       compare_parts(one->machine, other->machine);
}

/* Refuses a GUID that cannot be one machine's; `first` to `end` have it. */
static int check_system(struct grouping *grouping, uint32_t first, uint32_t end)
{
	const struct member *member = &grouping->members[first];

	if (end - first > HD_MACHINE_PORTS_MAX)
		return hd_error_set(grouping->err, -ENODATA,
				    "%" PRIu32 " ports have the system image GUID 0x%" PRIx64
				    ", more than the %u of a machine",
				    end - first, member->key, HD_MACHINE_PORTS_MAX);
	for (uint32_t i = first + 1; i < end; i++)
		if (names_differ(member, &grouping->members[i]))
			return hd_error_set(
			    grouping->err, -ENODATA,
			    "'%s' and '%s' have the same system image GUID 0x%" PRIx64,
			    member->full, grouping->members[i].full, member->key);
	return 0;
}

static int check_systems(struct grouping *grouping)
{
	int rc = 0;

	for (uint32_t first = 0, end; !rc && first < grouping->count; first = end) {
		end = end_of_machine(grouping, first);
		rc = check_system(grouping, first, end);
	}
	return rc ? rc : check_sizes(grouping, "no two adapters share a system image GUID");
}

/* Gives an adapter its key. A text keeps those apart that are machines of their own. True: it has a
 * system image GUID. */
static bool set_system(const struct grouping *grouping, const uint64_t *switches,
		       struct member *member)
{
	const struct hd_fabric *fabric = grouping->fabric;
	uint64_t system = fabric->system_guid[fabric->port_node[fabric->host_port[member->host]]];
	bool alone =
	    !system || !is_adapter(fabric, member->host) ||
	    bsearch(&system, switches, fabric->switch_count, sizeof(system), compare_guids);

	member->key = alone ? member->guid : system;
	member->text = alone ? (struct part){"alone", 5} : (struct part){NULL, 0};
	return system != 0;
}

static int group_by_system(struct grouping *grouping)
{
	const uint64_t *switches = list_switches(grouping);
	uint32_t known = 0;

	grouping->by = HD_MACHINES_SYSTEM_GUID;
	if (!switches)
		return hd_error_no_memory(grouping->err);
	for (uint32_t i = 0; i < grouping->count; i++)
		known += set_system(grouping, switches, &grouping->members[i]);
	if (!known)
		return hd_error_set(grouping->err, -ENODATA, "no adapter has a system image GUID");
	sort_members(grouping);
	return check_systems(grouping);
}

/* ---- by file ---- */

struct file_names {
	struct grouping *grouping;
	struct hd_words words;
	struct hd_lookup lookup;
	char **names; /* [host_count] machines of the file */
	uint32_t count, taken; /* machines, and adapters */
	const char *wanted; /* name that is searched */
};

static bool is_wanted(const void *context, uint32_t index)
{
	const struct file_names *file = context;

	return !strcmp(file->names[index], file->wanted);
}

static int find_name(struct file_names *file, const char *name, uint32_t *machine,
		     struct hd_error *err)
{
	uint64_t hash = hd_hash_bytes(name, strlen(name));

	file->wanted = name;
	*machine = hd_lookup_find(&file->lookup, hash, is_wanted, file);
	if (*machine != HD_NONE)
		return 0;
	file->names[file->count] = hd_arena_strdup(&file->grouping->arena, name);
	if (!file->names[file->count] || hd_lookup_add(&file->lookup, hash, file->count))
		return hd_error_no_memory(err);
	*machine = file->count++;
	return 0;
}

static int take_line(struct file_names *file, struct hd_error *err)
{
	const struct hd_fabric *fabric = file->grouping->fabric;
	const struct hd_words *words = &file->words;
	uint32_t port, machine;

	if (words->count != 2)
		return hd_lines_error(&words->lines, err, "expected `ADAPTER MACHINE`");
	if (hd_fabric_resolve(fabric, words->word[0], HD_RESOLVE_HOSTS, &port, err))
		return hd_lines_error_prefix(&words->lines, -EINVAL, err);
	uint32_t host = hd_fabric_find_host(fabric, port);
	if (host == HD_NONE)
		return hd_lines_error_at(&words->lines, words->lines.number, err,
					 "'%s' is set aside and no host", words->word[0]);
	struct member *member = &file->grouping->members[host];
	if (member->text.length)
		return hd_lines_error_at(&words->lines, words->lines.number, err,
					 "adapter '%s' is listed twice", words->word[0]);
	int rc = find_name(file, words->word[1], &machine, err);
	if (rc)
		return rc;
	member->key = machine;
	member->text = (struct part){file->names[machine], strlen(file->names[machine])};
	member->place = ++file->taken;
	return 0;
}

static int group_by_file(struct grouping *grouping, const struct hd_text *text)
{
	struct file_names file = {.grouping = grouping};
	int rc = hd_words_begin(&file.words, text, grouping->err);

	grouping->by = HD_MACHINES_FILE;
	file.names = hd_arena_alloc(&grouping->arena, (size_t)grouping->count + 1, sizeof(char *));
	if (!rc && !file.names)
		rc = hd_error_no_memory(grouping->err);
	while (!rc && (rc = hd_words_next(&file.words, grouping->err)) > 0)
		rc = take_line(&file, grouping->err);
	hd_lookup_release(&file.lookup);
	if (!rc && !file.taken)
		return hd_error_set(grouping->err, -ENODATA, "%s: the file has no adapter",
				    text->name);
	for (uint32_t i = 0; !rc && i < grouping->count; i++)
		if (!grouping->members[i].text.length)
			grouping->members[i].key = grouping->members[i].guid;
	if (!rc)
		sort_members(grouping);
	return rc;
}

/* ---- the result ---- */

/* A machine as it is found: its members, and its first host, by which machines are numbered. */
struct found {
	uint32_t first, end, host;
};

static int by_host(const void *one, const void *other)
{
	return compare_numbers(((const struct found *)one)->host,
			       ((const struct found *)other)->host);
}

static struct found *find_machines(struct grouping *grouping, uint32_t *count)
{
	struct found *found = hd_arena_alloc(&grouping->arena, grouping->count, sizeof(*found));

	*count = 0;
	for (uint32_t first = 0, end; found && first < grouping->count; first = end) {
		struct found *machine = &found[(*count)++];
		end = end_of_machine(grouping, first);
		*machine = (struct found){first, end, HD_NONE};
		for (uint32_t i = first; i < end; i++)
			if (grouping->members[i].host < machine->host)
				machine->host = grouping->members[i].host;
	}
	if (found && *count)
		qsort(found, *count, sizeof(*found), by_host);
	return found;
}

/* "gpu01": what the source says, or else the name of the first adapter. */
static char *name_of(const struct grouping *grouping, const struct found *machine,
		     struct hd_arena *arena)
{
	const struct member *member = &grouping->members[machine->first];
	struct part part = grouping->by == HD_MACHINES_FILE ? member->text : member->machine;

	if (!part.length)
		part = (struct part){member->full, strlen(member->full)};
	char *name = hd_arena_alloc(arena, part.length + 1, 1);
	if (name)
		memcpy(name, part.at, part.length);
	return name;
}

static void fill(const struct grouping *grouping, const struct found *found, uint32_t *base,
		 uint32_t *host, uint32_t *of_host, char **name, struct owned *owned)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < owned->shown.count; i++) {
		base[i] = next;
		name[i] = name_of(grouping, &found[i], &owned->arena);
		for (uint32_t at = found[i].first; at < found[i].end; at++) {
			host[next++] = grouping->members[at].host;
			of_host[grouping->members[at].host] = i;
		}
	}
	base[owned->shown.count] = next;
}

static int finish(struct grouping *grouping, struct hd_machines **out)
{
	uint32_t count;
	const struct found *found = find_machines(grouping, &count);
	struct owned *owned = calloc(1, sizeof(*owned));

	if (!found || !owned) {
		free(owned);
		return hd_error_no_memory(grouping->err);
	}
	size_t hosts = grouping->count;
	uint32_t *base = hd_arena_alloc(&owned->arena, (size_t)count + 1, sizeof(*base));
	uint32_t *host = hd_arena_alloc(&owned->arena, hosts, sizeof(*host));
	uint32_t *of_host = hd_arena_alloc(&owned->arena, hosts, sizeof(*of_host));
	char **name = hd_arena_alloc(&owned->arena, count, sizeof(*name));
	owned->shown = (struct hd_machines){
	    grouping->by, count, base, host, of_host, (const char *const *)name, ""};
	if (!owned->arena.failed)
		fill(grouping, found, base, host, of_host, name, owned);
	if (owned->arena.failed) {
		hd_machines_free(&owned->shown);
		return hd_error_no_memory(grouping->err);
	}
	*out = &owned->shown;
	return 0;
}

void hd_machines_free(struct hd_machines *machines)
{
	struct owned *owned = (struct owned *)machines;

	if (!owned)
		return;
	hd_arena_release(&owned->arena);
	free(owned);
}

/* ---- the sources ---- */

static int group_alone(struct grouping *grouping)
{
	grouping->by = HD_MACHINES_ALONE;
	for (uint32_t i = 0; i < grouping->count; i++)
		grouping->members[i].key = grouping->members[i].guid;
	sort_members(grouping);
	return 0;
}

static int find_by(const struct hd_fabric *fabric, enum hd_machines_by by, struct hd_machines **out,
		   struct hd_error *err)
{
	struct grouping grouping;
	int rc = begin(&grouping, fabric, err);

	if (!rc)
		rc = by == HD_MACHINES_NAME	     ? group_by_name(&grouping)
		     : by == HD_MACHINES_SYSTEM_GUID ? group_by_system(&grouping)
						     : group_alone(&grouping);
	if (!rc)
		rc = finish(&grouping, out);
	hd_arena_release(&grouping.arena);
	return rc;
}

/* The source that gives fewer machines. */
static struct hd_machines **better(struct hd_machines **names, struct hd_machines **systems)
{
	return !*systems || (*names && (*names)->count < (*systems)->count) ? names : systems;
}

static void note_why(struct hd_machines *machines, const char *names, const char *systems)
{
	snprintf(machines->why, sizeof(machines->why), "%s%.200s%s%s%.200s",
		 *names ? "names: " : "", names, *names && *systems ? "; " : "",
		 *systems ? "system image GUIDs: " : "", systems);
}

static int find_best(const struct hd_fabric *fabric, struct hd_machines **out, struct hd_error *err)
{
	struct hd_machines *names = NULL, *systems = NULL;
	struct hd_error no_names = {""}, no_systems = {""};
	int rc = find_by(fabric, HD_MACHINES_NAME, &names, &no_names);

	if (rc != -ENOMEM)
		rc = find_by(fabric, HD_MACHINES_SYSTEM_GUID, &systems, &no_systems);
	if (rc == -ENOMEM)
		rc = hd_error_no_memory(err);
	else if (!names && !systems)
		rc = find_by(fabric, HD_MACHINES_ALONE, out, err);
	else {
		struct hd_machines **chosen = better(&names, &systems);
		*out = *chosen;
		*chosen = NULL;
		rc = 0;
	}
	if (!rc)
		note_why(*out, no_names.text, no_systems.text);
	hd_machines_free(names);
	hd_machines_free(systems);
	return rc;
}

int hd_machines_find(const struct hd_fabric *fabric, enum hd_machines_by by,
		     struct hd_machines **out, struct hd_error *err)
{
	if (by == HD_MACHINES_AUTO)
		return find_best(fabric, out, err);
	return find_by(fabric, by, out, err);
}

static int parse(const struct hd_fabric *fabric, const struct hd_text *text,
		 struct hd_machines **out, struct hd_error *err)
{
	struct grouping grouping;
	int rc = begin(&grouping, fabric, err);

	if (!rc)
		rc = group_by_file(&grouping, text);
	if (!rc)
		rc = finish(&grouping, out);
	hd_arena_release(&grouping.arena);
	return rc;
}

int hd_machines_parse(const struct hd_fabric *fabric, const char *text, size_t length,
		      const char *name, struct hd_machines **out, struct hd_error *err)
{
	const struct hd_text whole = {.bytes = text, .length = length, .name = name};

	return parse(fabric, &whole, out, err);
}

int hd_machines_read(const struct hd_fabric *fabric, const char *path, struct hd_machines **out,
		     struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open(path, &text, err);

	if (rc)
		return rc;
	rc = parse(fabric, &text, out, err);
	hd_text_close(&text);
	return rc;
}

const char *hd_machines_source(enum hd_machines_by by)
{
	static const char *const sources[] = {[HD_MACHINES_ALONE] = "adapters",
					      [HD_MACHINES_AUTO] = "any source",
					      [HD_MACHINES_NAME] = "names",
					      [HD_MACHINES_SYSTEM_GUID] = "system image GUIDs",
					      [HD_MACHINES_FILE] = "file"};

	return sources[by];
}
