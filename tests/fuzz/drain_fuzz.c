/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads any bytes as a request of heddle drain, and as the file of what is drained. */
#include "drain_file.h"
#include "drain_request.h"
#include "fuzzing.h"
#include "port_path.h"

#include <heddle/base/replacement.h>

static const char topology[] =
    "Switch 4 \"S-0000000000200000\" # \"leaf 1\" base port 0 lid 1 lmc 0\n"
    "[1] \"H-0000000000100000\"[1](100001) # \"n1\" lid 3 4xEDR\n"
    "[3] \"S-0000000000200010\"[3] # \"leaf[2]\" lid 2 4xEDR\n"
    "[4] \"S-0000000000200010\"[4] # \"leaf[2]\" lid 2 4xEDR\n"
    "Switch 4 \"S-0000000000200010\" # \"leaf[2]\" base port 0 lid 2 lmc 0\n"
    "[1] \"H-0000000000100010\"[1](100011) # \"n2\" lid 4 4xEDR\n"
    "[3] \"S-0000000000200000\"[3] # \"leaf 1\" lid 1 4xEDR\n"
    "[4] \"S-0000000000200000\"[4] # \"leaf 1\" lid 1 4xEDR\n"
    "Ca 1 \"H-0000000000100000\" # \"n1\"\n"
    "[1](100001) \"S-0000000000200000\"[1] # lid 3 lmc 0 \"leaf 1\" lid 1 4xEDR\n"
    "Ca 1 \"H-0000000000100010\" # \"n2\"\n"
    "[1](100011) \"S-0000000000200010\"[1] # lid 4 lmc 0 \"leaf[2]\" lid 2 4xEDR\n";

/* ---- in the place of the plugin's files: what is written goes to memory ---- */

static char *written;
static size_t written_length;

void port_path_expand(uint64_t guid, const char *text, char *path, size_t size)
{
	(void)guid;
	snprintf(path, size, "%s", text);
}

int hd_replace(const char *path, mode_t mode, hd_replacement_write_fn *write, const void *context,
	       struct hd_error *err)
{
	FILE *stream = open_memstream(&written, &written_length);

	(void)path;
	(void)mode;
	demand(stream && !write(context, stream, err));
	return fclose(stream);
}

int hd_replace_by_nothing(const char *path, struct hd_error *err)
{
	(void)path;
	(void)err;
	return 0;
}

/* ---- the file ---- */

/* What was read is written, and read again, as it was. */
static void check_file(const char *text, size_t size)
{
	struct drained_set set = {0}, again = {0};
	struct hd_error err = {""};

	if (drain_file_parse(text, size, &set, &err)) {
		demand(!set.things && !set.count && err.text[0]);
		return;
	}
	demand(set.count <= DRAINED_MOST);
	if (set.count) {
		demand(!drain_file_write("x", &set, &err));
		demand(!drain_file_parse(written, written_length, &again, &err));
		demand(drained_set_equal(&set, &again));
		free(written);
	}
	drained_set_release(&again);
	drained_set_release(&set);
}

/* ---- a request ---- */

/* Nobody is ever cut off by what may be drained, and all of it can be used again. */
static void check_names(const struct drain_request *request)
{
	const struct hd_fabric *fabric = fabric_of(topology);
	struct drained_set wanted = {0}, asked = {0}, taken = {0};
	struct hd_error err = {""};
	int rc = drain_request_add(request, fabric, &wanted, &asked, &err);

	demand(!rc || err.text[0]);
	if (!rc) {
		struct hd_fabric_change changes[DRAIN_NAMES_MOST];
		demand(wanted.count && wanted.count == asked.count);
		demand(drained_set_locate(&wanted, fabric, changes) <= 1); /* of two cables */
		drain_request_take(request, fabric, &wanted, &taken, &err);
		drain_request_take(request, NULL, &wanted, &taken, &err);
	}
	drained_set_release(&wanted);
	drained_set_release(&asked);
	drained_set_release(&taken);
}

static void check_request(const uint8_t *data, size_t size)
{
	static struct drain_request request;
	struct hd_error err = {""};
	long used = drain_request_parse(data, size, &request, &err);

	demand(used <= (long)size && (used >= 0 || err.text[0]));
	if (used > 0 && request.count)
		check_names(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_file((const char *)data, size);
	check_request(data, size);
	return 0;
}
