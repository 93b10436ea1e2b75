/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/fabric/pull.h>

#include <errno.h>
#include <heddle/base/text.h>
#include <heddle/fabric/resolve.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

#define NODE_SIZE 256u

/* One end of a cable as it is written. */
struct end_text {
	char node[NODE_SIZE];
	uint32_t port;
};

/* "NODE" or "'NODE'", without blanks around it. */
static bool copy_node(const char *begin, const char *end, char node[NODE_SIZE])
{
	while (begin < end && *begin == ' ')
		begin++;
	while (end > begin && end[-1] == ' ')
		end--;
	if (end - begin >= 2 && *begin == '\'' && end[-1] == '\'') {
		begin++;
		end--;
	}
	const size_t length = (size_t)(end - begin);
	if (!length || length >= NODE_SIZE)
		return false;
	memcpy(node, begin, length);
	node[length] = '\0';
	return true;
}

/* "NODE[PORT]" */
static bool take_end(const char *begin, const char *end, struct end_text *out)
{
	const char *open;

	while (end > begin && end[-1] == ' ')
		end--;
	if (end - begin < 4 || end[-1] != ']')
		return false;
	for (open = end - 1; open > begin && *open != '[';)
		open--;
	struct hd_cursor cursor = {open + 1, end - 1};
	return *open == '[' && hd_take_decimal(&cursor, &out->port) && hd_cursor_done(&cursor) &&
	       copy_node(begin, open, out->node);
}

/* A dash between two ends, from `from` on; NULL: no dash. */
static const char *find_dash(const char *from)
{
	for (const char *close = strchr(from, ']'); close; close = strchr(close + 1, ']')) {
		const char *dash = close + 1 + strspn(close + 1, " ");
		if (*dash == '-')
			return dash;
	}
	return NULL;
}

/* ---- nodes and ports ---- */

static int find_node(const struct hd_fabric *fabric, const char *text, uint32_t *node,
		     struct hd_error *err)
{
	uint32_t port;
	struct hd_error other;
	int rc = hd_fabric_resolve(fabric, text, HD_RESOLVE_SWITCHES, &port, err);

	if (rc == -ENOENT && !hd_fabric_resolve(fabric, text, HD_RESOLVE_HOSTS, &port, &other))
		rc = 0;
	if (!rc)
		*node = fabric->port_node[port];
	return rc;
}

static int find_port(const struct hd_fabric *fabric, const struct end_text *end, uint32_t *port,
		     struct hd_error *err)
{
	uint32_t node;
	int rc = find_node(fabric, end->node, &node, err);

	if (rc)
		return rc;
	if (!end->port || end->port > hd_node_ports(fabric, node))
		return hd_error_set(
		    err, -EINVAL, "'%.64s' has ports 1 to %" PRIu32 ", not %" PRIu32,
		    fabric->node_name[node], hd_node_ports(fabric, node), end->port);
	*port = hd_port_index(fabric, node, end->port);
	return 0;
}

static int have_cable(const struct hd_fabric *fabric, uint32_t port, struct hd_fabric_change *out,
		      struct hd_error *err)
{
	*out = (struct hd_fabric_change){.lost = true, .cable = true, .index = port};
	return fabric->peer[port] != HD_NONE
		   ? 0
		   : hd_error_set(err, -ENXIO, "there is no cable at '%.64s'[%" PRIu32 "]",
				  fabric->node_name[fabric->port_node[port]],
				  hd_port_number(fabric, port));
}

static int find_cable(const struct hd_fabric *fabric, const struct end_text *ends, unsigned count,
		      struct hd_fabric_change *out, struct hd_error *err)
{
	uint32_t port, other = HD_NONE;
	int rc = find_port(fabric, &ends[0], &port, err);

	if (!rc && count > 1)
		rc = find_port(fabric, &ends[1], &other, err);
	if (!rc && count > 1 && fabric->peer[port] != other &&
	    (fabric->peer[port] != HD_NONE || fabric->peer[other] != HD_NONE))
		return hd_error_set(err, -EINVAL,
				    "no cable joins '%.64s'[%" PRIu32 "] and '%.64s'[%" PRIu32 "]",
				    fabric->node_name[fabric->port_node[port]], ends[0].port,
				    fabric->node_name[fabric->port_node[other]], ends[1].port);
	return rc ? rc : have_cable(fabric, port, out, err);
}

/* Tries each dash: a description can have one, too. False if no dash is between two ends. */
static bool find_between(const struct hd_fabric *fabric, const char *text,
			 struct hd_fabric_change *out, int *rc, struct hd_error *err)
{
	const char *end = text + strlen(text);
	struct end_text ends[2];
	struct hd_error other;
	bool any = false;

	for (const char *dash = find_dash(text); dash; dash = find_dash(dash + 1)) {
		if (!take_end(text, dash, &ends[0]) || !take_end(dash + 1, end, &ends[1]))
			continue;
		any = true;
		*rc = find_cable(fabric, ends, 2, out, err);
		if (*rc != -ENOENT)
			return true;
	}
	/* or all dashes are of one description */
	if (any && take_end(text, end, &ends[0]) && !find_cable(fabric, ends, 1, out, &other))
		*rc = 0;
	return any;
}

int hd_pull_resolve(const struct hd_fabric *fabric, const char *text, struct hd_fabric_change *out,
		    struct hd_error *err)
{
	struct end_text end;
	struct hd_error reason;
	char node[NODE_SIZE];
	uint32_t port;
	int rc =
	    copy_node(text, text + strlen(text), node)
		? hd_fabric_resolve(fabric, node, HD_RESOLVE_SWITCHES, &port, &reason)
		: hd_error_set(&reason, -EINVAL, "'%.64s' is no name of a switch or cable", text);

	if (!rc) {
		*out = (struct hd_fabric_change){.lost = true, .index = fabric->port_node[port]};
		return 0;
	}
	int found = 0;
	if (find_between(fabric, text, out, &found, err))
		return found;
	if (take_end(text, text + strlen(text), &end))
		return find_cable(fabric, &end, 1, out, err);
	if (strchr(text, '['))
		return hd_error_set(
		    err, -EINVAL,
		    "'%.128s' is no cable: expected SWITCH[PORT], or both ends with a "
		    "dash between them",
		    text);
	return hd_error_set(err, rc, "%s", reason.text);
}
