/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent_show.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define COLUMNS_MAX 16u
#define CELL_SIZE 128u

static int connect_to(const char *path, int *out, struct hd_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = 0;

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (descriptor < 0 ||
	    connect(descriptor, (const struct sockaddr *)&address, sizeof(address)))
		rc = hd_error_set(err, -errno, "%s: %s; is heddle-router running?", path,
				  strerror(errno));
	if (rc && descriptor >= 0)
		close(descriptor);
	*out = descriptor;
	return rc;
}

static int ask(int descriptor, const char *table, json_t **answer, struct hd_error *err)
{
	json_error_t why;

	if (dprintf(descriptor, "%s\n", table) < 0)
		return hd_error_set(err, -errno, "cannot ask heddle-router: %s", strerror(errno));
	*answer = json_loadfd(descriptor, 0, &why);
	if (!*answer)
		return hd_error_set(err, -EINVAL, "heddle-router gives no answer: %s", why.text);
	if (!json_is_array(*answer)) {
		const char *text = json_string_value(json_object_get(*answer, "error"));

		hd_error_set(err, -EINVAL, "%s: '%s'", text ? text : "bad answer", table);
		json_decref(*answer);
		return -EINVAL;
	}
	return 0;
}

static const char *print_cell(const json_t *value, char cell[CELL_SIZE])
{
	if (json_is_integer(value))
		snprintf(cell, CELL_SIZE, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		snprintf(cell, CELL_SIZE, "%s", json_string_value(value));
	return cell;
}

/* Prints one row, or widens the columns if `out` is NULL. */
static void print_row(const json_t *row, size_t widths[COLUMNS_MAX], FILE *out)
{
	const char *key;
	json_t *value;
	char cell[CELL_SIZE];
	unsigned column = 0;

	json_object_foreach((json_t *)row, key, value)
	{
		size_t length = strlen(print_cell(value, cell));

		if (column == COLUMNS_MAX)
			break;
		if (out)
			fprintf(out, "%s%*s", column ? "  " : "",
				json_is_integer(value) ? (int)widths[column] : -(int)widths[column],
				cell);
		else if (length > widths[column])
			widths[column] = length;
		column++;
	}
	if (out)
		fputc('\n', out);
}

static void print_heads(const json_t *row, size_t widths[COLUMNS_MAX], FILE *out)
{
	const char *key;
	json_t *value;
	unsigned column = 0;

	json_object_foreach((json_t *)row, key, value)
	{
		if (column == COLUMNS_MAX)
			break;
		if (strlen(key) > widths[column])
			widths[column] = strlen(key);
		fprintf(out, "%s%*s", column ? "  " : "",
			json_is_integer(value) ? (int)widths[column] : -(int)widths[column], key);
		column++;
	}
	fputc('\n', out);
}

static void print_table(const json_t *rows, FILE *out)
{
	size_t widths[COLUMNS_MAX] = {0}, index;
	json_t *row;

	json_array_foreach(rows, index, row) print_row(row, widths, NULL);
	if (json_array_size(rows))
		print_heads(json_array_get(rows, 0), widths, out);
	json_array_foreach(rows, index, row) print_row(row, widths, out);
}

int agent_show(const char *socket_path, const char *table, bool as_json, FILE *out,
	       struct hd_error *err)
{
	json_t *answer;
	int descriptor, rc = connect_to(socket_path, &descriptor, err);

	if (rc)
		return rc;
	rc = ask(descriptor, table, &answer, err);
	close(descriptor);
	if (rc)
		return rc;
	if (as_json) {
		json_dumpf(answer, out, JSON_INDENT(1));
		fputc('\n', out);
	} else {
		print_table(answer, out);
	}
	json_decref(answer);
	return 0;
}
