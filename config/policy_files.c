/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/config/policy_files.h>

#include <heddle/base/text.h>
#include <heddle/fabric/read.h>
#include <stdlib.h>

static const struct hd_policy_file_kind kinds[HD_POLICY_FILES] = {
    [HD_POLICY_ROOTS] = {"root_guid_file", "GUIDs"},
    [HD_POLICY_COMPUTE_NODES] = {"cn_guid_file", "GUIDs"},
    [HD_POLICY_IO_NODES] = {"io_guid_file", "GUIDs"},
    [HD_POLICY_ORDER] = {"guid_routing_order_file", "GUIDs"},
    [HD_POLICY_HOP_WEIGHTS] = {"hop_weights_file", "ports"},
    [HD_POLICY_IGNORED_PORTS] = {"port_prof_ignore_file", "ports"},
    [HD_POLICY_AGGREGATION] = {"aggregation_guid_file", "GUIDs"},
};

const struct hd_policy_file_kind *hd_policy_file_kind(enum hd_policy_file file)
{
	return &kinds[file];
}

static int parse(enum hd_policy_file file, const struct hd_text *text, struct hd_policy_list *list,
		 struct hd_error *err)
{
	switch (file) {
	case HD_POLICY_HOP_WEIGHTS:
	case HD_POLICY_IGNORED_PORTS:
		return hd_port_refs_parse(text, file == HD_POLICY_HOP_WEIGHTS, &list->ports,
					  &list->count, err);
	default:
		return hd_guids_parse(text, &list->guids, &list->count, err);
	}
}

static int read_list(enum hd_policy_file file, const char *path, bool wait,
		     struct hd_policy_list *list, struct hd_error *err)
{
	struct hd_text text;
	int rc = wait ? hd_text_open(path, &text, err)
		      : hd_text_open_regular(path, HD_POLICY_FILE_LARGEST, &text, err);

	if (rc)
		return rc;
	rc = parse(file, &text, list, err);
	list->was_read = !rc;
	hd_text_close(&text);
	return rc;
}

static void release(struct hd_policy_list *list)
{
	free(list->guids);
	free(list->ports);
	*list = (struct hd_policy_list){0};
}

int hd_policy_file_read(struct hd_policy_files *files, enum hd_policy_file file, const char *path,
			bool wait, struct hd_error *err)
{
	struct hd_policy_list list = {0};
	int rc = path ? read_list(file, path, wait, &list, err) : 0;

	if (rc)
		return rc;
	release(&files->lists[file]);
	files->lists[file] = list;
	return 0;
}

int hd_policy_files_read(struct hd_policy_files *files, const char *const *paths, bool wait,
			 struct hd_error *err)
{
	struct hd_policy_files read = {0};
	int rc = 0;

	for (unsigned file = 0; !rc && file < HD_POLICY_FILES; file++)
		rc = hd_policy_file_read(&read, file, paths[file], wait, err);
	if (rc)
		hd_policy_files_release(&read);
	else
		*files = read;
	return rc;
}

void hd_policy_files_release(struct hd_policy_files *files)
{
	for (unsigned file = 0; file < HD_POLICY_FILES; file++)
		release(&files->lists[file]);
}

struct hd_policy hd_policy_files_view(const struct hd_policy_files *files)
{
	const struct hd_policy_list *lists = files->lists;

	return (struct hd_policy){
	    .root_guids = lists[HD_POLICY_ROOTS].guids,
	    .root_count = lists[HD_POLICY_ROOTS].count,
	    .cn_guids = lists[HD_POLICY_COMPUTE_NODES].guids,
	    .cn_count = lists[HD_POLICY_COMPUTE_NODES].count,
	    .io_guids = lists[HD_POLICY_IO_NODES].guids,
	    .io_count = lists[HD_POLICY_IO_NODES].count,
	    .order_guids = lists[HD_POLICY_ORDER].guids,
	    .order_count = lists[HD_POLICY_ORDER].count,
	    .hop_weights = lists[HD_POLICY_HOP_WEIGHTS].ports,
	    .hop_weight_count = lists[HD_POLICY_HOP_WEIGHTS].count,
	    .ignored_ports = lists[HD_POLICY_IGNORED_PORTS].ports,
	    .ignored_port_count = lists[HD_POLICY_IGNORED_PORTS].count,
	    .aggregation_guids = lists[HD_POLICY_AGGREGATION].guids,
	    .aggregation_count = lists[HD_POLICY_AGGREGATION].count,
	};
}
