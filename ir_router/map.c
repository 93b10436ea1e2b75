/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps in memory. */
#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/ir_router/map.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	struct hd_lines lines;
	struct hd_map_builder *builder;
	struct hd_error *err;
	uint32_t found; /* lines with a destination */
};

static int map_fail(struct reading *reading, const char *reason)
{
	return hd_lines_error(&reading->lines, reading->err, "%s", reason);
}

static int take_length(struct reading *reading, const char *text, const char *end, unsigned *length)
{
	struct hd_cursor rest = {text, end};
	uint32_t value = 0;

	if (!hd_take_decimal(&rest, &value) || !hd_cursor_done(&rest) || value < 1 || value > 127)
		return map_fail(reading,
				value == 128 && hd_cursor_done(&rest)
				    ? "a block of length 128 is one GID: leave the length out"
				: text < end && *text == '0' && end - text == 1
				    ? "a block of length 0 is all destinations: write *"
				    : "expected a block length 1..127 after the /");
	*length = value;
	return 0;
}

static int take_destination(struct reading *reading, const struct hd_cursor *word,
			    struct hd_gid *gid, unsigned *length)
{
	const char *slash = memchr(word->at, '/', (size_t)(word->end - word->at));
	const char *end = slash ? slash : word->end;
	struct hd_error reason = {""};
	int rc = 0;

	*gid = (struct hd_gid){0, 0};
	*length = HD_MAP_DEFAULT;
	if (hd_cursor_is(word, "*"))
		return 0;
	*length = HD_MAP_GID;
	size_t bytes = (size_t)(end - word->at);
	if (hd_gid_parse(word->at, bytes < HD_GID_TEXT ? (unsigned)bytes : HD_GID_TEXT, gid,
			 &reason))
		return map_fail(reading,
				*word->at == '*' ? "expected a blank after *" : reason.text);
	if (slash)
		rc = take_length(reading, slash + 1, word->end, length);
	return rc;
}

static int take_ports(struct reading *reading, struct hd_cursor *line,
		      uint64_t ports[HD_MAP_PORTS_MAX], unsigned *count)
{
	struct hd_cursor word;

	*count = 0;
	while (hd_take_word(line, &word) && *word.at != '#') {
		if (*count == HD_MAP_PORTS_MAX)
			return hd_lines_error(&reading->lines, reading->err,
					      "expected at most %u router ports", HD_MAP_PORTS_MAX);
		if (!hd_take_hex(&word, &ports[*count]) || !hd_cursor_done(&word))
			return map_fail(reading, "expected the port GUID of a router, such as "
						 "0x0002c90300001234");
		++*count;
	}
	return 0;
}

/* Control characters would not be seen in an editor, but would change the destination. */
static bool has_control(const struct hd_cursor *line)
{
	for (const char *at = line->at; at < line->end; at++)
		if ((unsigned char)*at < ' ' && *at != '\t')
			return true;
	return false;
}

static int read_map_line(struct reading *reading)
{
	struct hd_cursor line = hd_lines_cursor(&reading->lines), word;
	uint64_t ports[HD_MAP_PORTS_MAX];
	unsigned length, count;
	struct hd_gid gid;
	struct hd_error reason = {""};

	if (!hd_take_word(&line, &word) || *word.at == '#')
		return 0;
	if (has_control(&line) || has_control(&word))
		return map_fail(reading, "the line has a control character");
	int rc = take_destination(reading, &word, &gid, &length);
	if (!rc)
		rc = take_ports(reading, &line, ports, &count);
	if (rc)
		return rc;
	reading->found++;
	rc = hd_map_builder_add(reading->builder, &gid, length, ports, count, reading->lines.number,
				&reason);
	if (rc == -EINVAL)
		return map_fail(reading, reason.text);
	return rc ? hd_error_no_memory(reading->err) : 0;
}

/* Whether the current line ends as Windows writes it. */
static bool ends_with_return(const struct hd_lines *lines)
{
	return lines->at - lines->line >= 2 && lines->at[-2] == '\r';
}

static int take_lines(struct reading *reading)
{
	struct hd_lines *lines = &reading->lines;
	bool windows = false;
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(lines, reading->err)) != 0) {
		if (more < 0)
			return more;
		if (lines->cut)
			return map_fail(reading,
					"the last line has no line end: the file may be cut");
		if (lines->number == 1)
			windows = ends_with_return(lines);
		if (windows != ends_with_return(lines))
			return map_fail(reading, windows
						     ? "this line ends in \\n alone, the lines "
						       "before it in \\r\\n"
						     : "this line ends in \\r\\n, the lines before "
						       "it in \\n alone");
		rc = read_map_line(reading);
	}
	return rc;
}

int hd_map_parse(const struct hd_text *text, struct hd_map **out, struct hd_error *err)
{
	struct reading reading = {.lines = hd_lines_of(text), .err = err};
	int rc = hd_text_check(text, err);

	if (rc)
		return rc;
	reading.builder = hd_map_builder_new();
	rc = reading.builder ? take_lines(&reading) : hd_error_no_memory(err);
	if (!rc && !reading.found)
		rc = hd_error_set(err, -ENODATA, "%s: no line has a destination", text->name);
	if (!rc)
		rc = hd_map_builder_build(reading.builder, text->name, out, err);
	hd_map_builder_free(reading.builder);
	return rc;
}

int hd_map_read(const char *path, struct hd_map **out, struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open_regular(path, HD_MAP_LARGEST, &text, err);

	if (rc)
		return rc;
	rc = hd_map_parse(&text, out, err);
	hd_text_close(&text);
	return rc;
}

/* The hash tables with which a map finds its lines, and the parts of blocks. */

static uint64_t mask_of(unsigned bits)
{
	return bits ? UINT64_MAX << (64 - bits) : 0;
}

/* The GID with all bits behind the first `length` set to 0. */
static struct hd_gid map_index_mask(const struct hd_gid *gid, unsigned length)
{
	unsigned high = length < 64 ? length : 64;

	return (struct hd_gid){gid->prefix & mask_of(high), gid->guid & mask_of(length - high)};
}

/* A hash of a GID, different for each salt. */
static uint64_t map_index_hash(const struct hd_gid *gid, uint64_t salt)
{
	return hd_hash_number(hd_hash_number(gid->prefix + salt) ^ gid->guid);
}

struct wanted {
	const struct hd_map *map;
	struct hd_gid gid;
	unsigned length;
};

static bool map_matches(const void *context, uint32_t index)
{
	const struct wanted *wanted = context;
	const struct hd_map_line *line = &wanted->map->lines[index];

	return line->length == wanted->length && hd_gid_equal(&line->gid, &wanted->gid);
}

/* The line with exactly that GID, or that block; HD_NONE if no line has it. Expected cost: O(1). */
static uint32_t map_index_find(const struct hd_map *map, const struct hd_gid *gid, unsigned length)
{
	const struct wanted wanted = {map, *gid, length};

	return hd_lookup_find(length == HD_MAP_GID ? &map->by_gid : &map->by_block,
			      map_index_hash(gid, length), map_matches, &wanted);
}

static bool same_choices(const struct hd_map *map, const struct hd_map_line *a,
			 const struct hd_map_line *b)
{
	if (a->port_count != b->port_count)
		return false;
	for (unsigned i = 0; i < a->port_count; i++)
		if (map->choices[a->first + i] != map->choices[b->first + i])
			return false;
	return true;
}

/* An earlier line with the same destination. `*` lines are sorted by their ports. */
static uint32_t find_earlier(const struct hd_map *map, uint32_t index)
{
	const struct hd_map_line *line = &map->lines[index];

	if (line->length != HD_MAP_DEFAULT)
		return map_index_find(map, &line->gid, line->length);
	if (index > map->gid_count + map->block_count && same_choices(map, line - 1, line))
		return index - 1;
	return HD_NONE;
}

static int add_line(struct hd_map *map, uint32_t index)
{
	const struct hd_map_line *line = &map->lines[index];

	if (line->length == HD_MAP_DEFAULT)
		return 0;
	return hd_lookup_add(line->length == HD_MAP_GID ? &map->by_gid : &map->by_block,
			     map_index_hash(&line->gid, line->length), index);
}

/* Puts all lines into the tables. *twice becomes a line with a destination that an earlier line
 * has, and *first that one; else both are HD_NONE. Errors: -ENOMEM. Cost: O(lines). */
static int map_index_fill(struct hd_map *map, uint32_t *twice, uint32_t *first)
{
	uint32_t count = map->gid_count + map->block_count + map->default_count;

	*twice = *first = HD_NONE;
	for (uint32_t index = 0; index < count; index++) {
		*first = find_earlier(map, index);
		if (*first != HD_NONE) {
			*twice = index;
			return 0;
		}
		if (add_line(map, index))
			return -ENOMEM;
	}
	bool present[128] = {false};
	for (uint32_t i = 0; i < map->block_count; i++)
		present[map->lines[map->gid_count + i].length] = true;
	for (unsigned length = 127; length; length--)
		if (present[length])
			map->lengths[map->length_count++] = (uint8_t)length;
	return 0;
}

/* Resolving GIDs, and what one can ask a map. */

#define SALT_LINE 1000 /* chooses among all `*` lines */
#define SALT_USABLE 2000 /* chooses among the usable ones */

void hd_map_free(struct hd_map *map)
{
	if (!map)
		return;
	hd_lookup_release(&map->by_gid);
	hd_lookup_release(&map->by_block);
	hd_arena_release(&map->arena);
	free(map);
}

uint32_t hd_map_find_port(const struct hd_map *map, uint64_t port_guid)
{
	uint32_t low = 0, high = map->port_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (map->port_guid[middle] < port_guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->port_count && map->port_guid[low] == port_guid ? low : HD_NONE;
}

/* The first usable port of a line. */
static bool take_port(const struct hd_map *map, uint32_t index, const bool *usable,
		      struct hd_map_answer *answer)
{
	const struct hd_map_line *line = &map->lines[index];

	for (uint32_t choice = 0; choice < line->port_count; choice++) {
		uint32_t port = map->choices[line->first + choice];
		if (usable && !usable[port])
			continue;
		*answer = (struct hd_map_answer){index, choice, port, map->port_guid[port]};
		return true;
	}
	return false;
}

static bool take_line(const struct hd_map *map, uint32_t index, const bool *usable,
		      struct hd_map_answer *answer)
{
	return index != HD_NONE && take_port(map, index, usable, answer);
}

bool hd_map_resolve(const struct hd_map *map, const struct hd_gid *gid, const bool *usable,
		    struct hd_map_answer *answer)
{
	if (take_line(map, map_index_find(map, gid, HD_MAP_GID), usable, answer))
		return true;
	for (uint32_t i = 0; i < map->length_count; i++) {
		struct hd_gid block = map_index_mask(gid, map->lengths[i]);
		if (take_line(map, map_index_find(map, &block, map->lengths[i]), usable, answer))
			return true;
	}
	/* The line that the hash names, while it has a usable port. Otherwise the usable line with the largest hash of line and GID: so the destinations of a vanished port spread over all others, and no other destination moves. */
	uint32_t first = map->gid_count + map->block_count;
	uint64_t best = 0;
	bool found = false;
	if (!map->default_count)
		return false;
	if (take_port(map, first + (uint32_t)(map_index_hash(gid, SALT_LINE) % map->default_count),
		      usable, answer))
		return true;
	for (uint32_t i = 0; i < map->default_count; i++) {
		struct hd_map_answer one;
		if (!take_port(map, first + i, usable, &one))
			continue;
		uint64_t hash = map_index_hash(gid, SALT_USABLE + one.port_guid);
		if (found && hash <= best)
			continue;
		best = hash;
		*answer = one;
		found = true;
	}
	return found;
}

/* The line with the lowest number that has an unknown port, with that port. */
static const struct hd_map_line *first_unknown(const struct hd_map *map, const bool *known,
					       uint32_t *port)
{
	const struct hd_map_line *first = NULL;
	uint32_t count = map->gid_count + map->block_count + map->default_count;

	for (uint32_t index = 0; index < count; index++) {
		const struct hd_map_line *line = &map->lines[index];
		for (uint32_t i = 0; i < line->port_count; i++) {
			uint32_t choice = map->choices[line->first + i];
			if (known[choice] || (first && first->number <= line->number))
				continue;
			first = line;
			*port = choice;
		}
	}
	return first;
}

int hd_map_check_ports(const struct hd_map *map, const char *name, const uint64_t *ports,
		       uint32_t count, uint32_t *unknown, struct hd_error *err)
{
	bool *known = calloc((size_t)map->port_count + 1, sizeof(*known));
	uint32_t missing = 0, port = 0;
	char destination[HD_MAP_DESTINATION_TEXT];
	int rc = 0;

	if (!known)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < map->port_count; i++) {
		uint64_t guid = map->port_guid[i];
		uint32_t low = 0, high = count;
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;
			if (ports[middle] < guid)
				low = middle + 1;
			else
				high = middle;
		}
		known[i] = low < count && ports[low] == guid;
		missing += !known[i];
	}
	if (unknown)
		*unknown = missing;
	if (missing) {
		const struct hd_map_line *line = first_unknown(map, known, &port);
		rc = hd_error_set(err, -ENOENT,
				  "%s:%" PRIu32 ": port GUID 0x%016" PRIx64
				  " of destination %s is no router port of the subnet",
				  name, line->number, map->port_guid[port],
				  hd_map_destination(line, destination));
	}
	free(known);
	return rc;
}

struct hd_map_builder {
	struct hd_map_line *lines; /* their ports: guids[first ..] */
	uint32_t count, room;
	uint64_t *guids;
	uint32_t guid_count, guid_room;
};

struct hd_map_builder *hd_map_builder_new(void)
{
	return calloc(1, sizeof(struct hd_map_builder));
}

void hd_map_builder_free(struct hd_map_builder *builder)
{
	if (!builder)
		return;
	free(builder->lines);
	free(builder->guids);
	free(builder);
}

static int check_block(const struct hd_gid *gid, unsigned length, struct hd_error *err)
{
	struct hd_gid first = map_index_mask(gid, length);
	char text[HD_GID_TEXT];

	if (length > 127)
		return hd_error_set(err, -EINVAL,
				    "expected a block length 1..127; one GID needs no length");
	if (!hd_gid_equal(&first, gid))
		return hd_error_set(err, -EINVAL,
				    "the block has bits behind its length, expected %s/%u",
				    hd_gid_print(&first, text), length);
	if (length >= 10 && hd_prefix_is_link_local(gid->prefix))
		return hd_prefix_check(gid->prefix, err);
	if (length >= 8 && gid->prefix >> 56 == 0xFF)
		return hd_prefix_check(gid->prefix, err);
	return length >= 64 ? hd_prefix_check(gid->prefix, err) : 0;
}

static int check_ports(const uint64_t *ports, unsigned count, struct hd_error *err)
{
	if (!count)
		return hd_error_set(err, -EINVAL, "the destination has no router port");
	if (count > HD_MAP_PORTS_MAX)
		return hd_error_set(err, -EINVAL, "expected at most %u router ports",
				    HD_MAP_PORTS_MAX);
	for (unsigned i = 0; i < count; i++) {
		if (!ports[i])
			return hd_error_set(err, -EINVAL, "a router port has GUID 0");
		for (unsigned earlier = 0; earlier < i; earlier++)
			if (ports[earlier] == ports[i])
				return hd_error_set(err, -EINVAL,
						    "router port 0x%016" PRIx64 " is listed twice",
						    ports[i]);
	}
	return 0;
}

int hd_map_builder_add(struct hd_map_builder *builder, const struct hd_gid *gid, unsigned length,
		       const uint64_t *ports, unsigned count, uint32_t number, struct hd_error *err)
{
	int rc = check_ports(ports, count, err);

	if (!rc && length == HD_MAP_GID) {
		if (!gid->guid)
			return hd_error_set(err, -EINVAL, "the port GUID in the GID is 0");
		rc = hd_prefix_check(gid->prefix, err);
	} else if (!rc && length != HD_MAP_DEFAULT)
		rc = check_block(gid, length, err);
	if (rc)
		return rc;
	struct hd_map_line *lines =
	    hd_grow(builder->lines, builder->count, 1, &builder->room, sizeof(*lines));
	if (!lines)
		return hd_error_no_memory(err);
	builder->lines = lines;
	uint64_t *guids = hd_grow(builder->guids, builder->guid_count, count, &builder->guid_room,
				  sizeof(*guids));
	if (!guids)
		return hd_error_no_memory(err);
	builder->guids = guids;
	memcpy(guids + builder->guid_count, ports, count * sizeof(*ports));
	lines[builder->count++] =
	    (struct hd_map_line){.gid = length == HD_MAP_DEFAULT ? (struct hd_gid){0, 0} : *gid,
				 .first = builder->guid_count,
				 .number = number,
				 .length = (uint8_t)length,
				 .port_count = (uint8_t)count};
	builder->guid_count += count;
	return 0;
}

static int compare_guids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* GIDs, then blocks, then `*` lines. */
static int kind_of(const struct hd_map_line *line)
{
	return line->length == HD_MAP_GID ? 0 : line->length == HD_MAP_DEFAULT ? 2 : 1;
}

static int compare_choices(const uint32_t *choices, const struct hd_map_line *a,
			   const struct hd_map_line *b)
{
	unsigned common = a->port_count < b->port_count ? a->port_count : b->port_count;

	for (unsigned i = 0; i < common; i++) {
		uint32_t x = choices[a->first + i], y = choices[b->first + i];
		if (x != y)
			return x < y ? -1 : 1;
	}
	return (int)a->port_count - (int)b->port_count;
}

/* By what a line is for. */
static int compare_places(const struct hd_map_line *a, const struct hd_map_line *b)
{
	int order = kind_of(a) - kind_of(b);

	if (!order)
		order = hd_gid_compare(&a->gid, &b->gid);
	return order ? order : (int)a->length - (int)b->length;
}

static int compare_lines(const void *left, const void *right, void *context)
{
	const struct hd_map_line *a = left, *b = right;
	int order = compare_places(a, b);

	if (!order && a->length == HD_MAP_DEFAULT)
		order = compare_choices(context, a, b);
	/* the line numbers make the order the same on every machine */
	return order ? order : a->number < b->number ? -1 : a->number > b->number;
}

static int fill_map(const struct hd_map_builder *builder, struct hd_map *map)
{
	uint32_t count = builder->count, guids = builder->guid_count;
	struct hd_map_line *lines = hd_arena_alloc(&map->arena, count, sizeof(*lines));
	uint64_t *sorted = hd_arena_alloc(&map->arena, guids, sizeof(*sorted));
	uint32_t *choices = hd_arena_alloc(&map->arena, guids, sizeof(*choices));
	uint32_t *unsorted = malloc(((size_t)guids + 1) * sizeof(*unsorted));

	if (hd_arena_check(&map->arena) || !unsorted) {
		free(unsorted);
		return -ENOMEM;
	}
	if (count)
		memcpy(lines, builder->lines, count * sizeof(*lines));
	if (guids)
		memcpy(sorted, builder->guids, guids * sizeof(*sorted));
	/* map->port_guid: all GUIDs, each once. */
	qsort(sorted, guids, sizeof(*sorted), compare_guids);
	for (uint32_t i = 0; i < guids; i++)
		if (!i || sorted[i] != sorted[i - 1])
			sorted[map->port_count++] = sorted[i];
	map->port_guid = sorted;
	for (uint32_t i = 0; i < guids; i++)
		unsorted[i] = hd_map_find_port(map, builder->guids[i]);
	qsort_r(lines, count, sizeof(*lines), compare_lines, unsorted);
	/* The ports of the lines, line by line in the order of `sorted`. */
	uint32_t next = 0;
	for (uint32_t i = 0; i < count; i++) {
		memcpy(choices + next, unsorted + lines[i].first,
		       lines[i].port_count * sizeof(*unsorted));
		lines[i].first = next;
		next += lines[i].port_count;
	}
	free(unsorted);
	map->lines = lines;
	map->choices = choices;
	for (uint32_t i = 0; i < count; i++) {
		map->gid_count += lines[i].length == HD_MAP_GID;
		map->default_count += lines[i].length == HD_MAP_DEFAULT;
	}
	map->block_count = count - map->gid_count - map->default_count;
	return 0;
}

static int refuse_twice(const struct hd_map *map, const char *name, uint32_t twice, uint32_t first,
			struct hd_error *err)
{
	char text[HD_MAP_DESTINATION_TEXT];
	uint32_t line = map->lines[twice].number, earlier = map->lines[first].number;

	hd_map_destination(&map->lines[twice], text);
	if (!name)
		return hd_error_set(err, -EINVAL, "destination %s is there twice", text);
	if (map->lines[twice].length == HD_MAP_DEFAULT)
		return hd_error_set(err, -EINVAL,
				    "%s:%" PRIu32 ": line %" PRIu32
				    " is a * line with the same router ports",
				    name, line, earlier);
	return hd_error_set(err, -EINVAL,
			    "%s:%" PRIu32 ": line %" PRIu32 " already has the destination %s", name,
			    line, earlier, text);
}

int hd_map_builder_build(struct hd_map_builder *builder, const char *name, struct hd_map **out,
			 struct hd_error *err)
{
	struct hd_map *map = calloc(1, sizeof(*map));
	uint32_t twice = HD_NONE, first = HD_NONE;
	int rc = map ? fill_map(builder, map) : -ENOMEM;

	if (!rc)
		rc = map_index_fill(map, &twice, &first);
	if (rc)
		rc = hd_error_no_memory(err);
	else if (twice != HD_NONE)
		rc = refuse_twice(map, name, twice, first, err);
	if (rc)
		hd_map_free(map);
	else
		*out = map;
	return rc;
}

struct comparison {
	const struct hd_map *before, *after;
	struct hd_map_difference *list;
	uint32_t count;
};

static uint32_t lines_of(const struct hd_map *map)
{
	return map->gid_count + map->block_count + map->default_count;
}

static uint64_t port_of(const struct hd_map *map, const struct hd_map_line *line, uint32_t i)
{
	return map->port_guid[map->choices[line->first + i]];
}

/* Negative, 0 or positive by the ports' GUIDs. */
static int compare_ports(const struct comparison *comparison, const struct hd_map_line *a,
			 const struct hd_map_line *b)
{
	for (uint32_t i = 0; i < a->port_count && i < b->port_count; i++) {
		uint64_t x = port_of(comparison->before, a, i),
			 y = port_of(comparison->after, b, i);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return (int)a->port_count - (int)b->port_count;
}

/* The order of the destinations; `*` lines are destinations of their own by their ports. */
static int compare_destinations(const struct comparison *comparison, const struct hd_map_line *a,
				const struct hd_map_line *b)
{
	int order = compare_places(a, b);

	if (!order && a->length == HD_MAP_DEFAULT)
		order = compare_ports(comparison, a, b);
	return order;
}

static void map_add(struct comparison *comparison, uint32_t before, uint32_t after)
{
	comparison->list[comparison->count++] = (struct hd_map_difference){before, after};
}

static void merge(struct comparison *comparison)
{
	uint32_t before = 0, after = 0;
	uint32_t before_count = lines_of(comparison->before),
		 after_count = lines_of(comparison->after);

	while (before < before_count || after < after_count) {
		const struct hd_map_line *a = comparison->before->lines + before;
		const struct hd_map_line *b = comparison->after->lines + after;
		int order = before == before_count ? 1
			    : after == after_count ? -1
						   : compare_destinations(comparison, a, b);
		if (order < 0)
			map_add(comparison, before, HD_NONE);
		else if (order > 0)
			map_add(comparison, HD_NONE, after);
		else if (compare_ports(comparison, a, b))
			map_add(comparison, before, after);
		before += order <= 0;
		after += order >= 0;
	}
}

int hd_map_compare(const struct hd_map *before, const struct hd_map *after,
		   struct hd_map_difference **out, uint32_t *count, struct hd_error *err)
{
	struct comparison comparison = {.before = before, .after = after};

	comparison.list =
	    calloc((size_t)lines_of(before) + lines_of(after) + 1, sizeof(*comparison.list));
	if (!comparison.list)
		return hd_error_no_memory(err);
	merge(&comparison);
	if (!comparison.count) {
		free(comparison.list);
		comparison.list = NULL;
	}
	*out = comparison.list;
	*count = comparison.count;
	return 0;
}
