/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs, and this machine. */
#include "doctor_site.h"
#include "need.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <heddle/base/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM_LARGEST ((size_t)256 << 20) /* bytes */

/* What was typed must be there. */
int doctor_expect_files(const struct doctor_site *site, struct hd_error *err)
{
	const char *const typed[] = {site->log_path, site->name_map, site->opensm_path,
				     site->plugin_path};
	struct stat about;

	for (unsigned i = 0; i < sizeof(typed) / sizeof(typed[0]); i++) {
		FILE *stream = typed[i] ? doctor_open_regular(typed[i], &about, err) : NULL;
		if (stream)
			fclose(stream);
		else if (typed[i])
			return -EINVAL;
	}
	if (site->logrotate && access(site->logrotate, R_OK | X_OK))
		return hd_error_set(err, -errno, "%s: cannot open: %s", site->logrotate,
				    strerror(errno));
	return 0;
}

/* The first text of its own in a program or library that is OpenSM's name and version. False: it has none. */
static bool find_version(const struct hd_text *text, char version[DOCTOR_VERSION_SIZE])
{
	const size_t begin = strlen(DOCTOR_VERSION_BEGINS);
	const char *at = text->bytes, *end = text->bytes + text->length;

	while (at < end && (at = memmem(at, (size_t)(end - at), DOCTOR_VERSION_BEGINS, begin))) {
		const char *stop = at + begin;
		while (stop < end && (isalnum((unsigned char)*stop) || strchr(".-_", *stop)) &&
		       *stop)
			stop++;
		if (at > text->bytes && !at[-1] && stop < end && !*stop &&
		    isdigit((unsigned char)at[begin]) && stop - at < DOCTOR_VERSION_SIZE) {
			memcpy(version, at, (size_t)(stop - at) + 1);
			return true;
		}
		at += begin;
	}
	return false;
}

static bool read_version(const char *path, char version[DOCTOR_VERSION_SIZE], struct hd_error *err)
{
	struct hd_text text;

	if (hd_text_open_regular(path, PROGRAM_LARGEST, &text, err))
		return false;
	const bool found = find_version(&text, version);
	hd_text_close(&text);
	if (!found)
		hd_error_set(err, -ENODATA, "%s: it has no version of OpenSM", path);
	return found;
}

/* The first file that a pattern matches; to be freed. */
static char *first_file(const char *const *patterns, unsigned count)
{
	char *found = NULL;

	for (unsigned i = 0; !found && i < count; i++) {
		glob_t files;
		if (!glob(patterns[i], 0, NULL, &files))
			found = need(strdup(files.gl_pathv[0]));
		globfree(&files);
	}
	return found;
}

/* Virtual functions of the adapters of this machine. */
static unsigned count_functions(void)
{
	unsigned count = 0;
	glob_t files;

	if (!glob("/sys/class/infiniband/*/device/sriov_numvfs", 0, NULL, &files))
		for (size_t i = 0; i < files.gl_pathc; i++) {
			FILE *stream = fopen(files.gl_pathv[i], "r");
			unsigned found = 0;
			if (stream && fscanf(stream, "%u", &found) == 1)
				count += found;
			if (stream)
				fclose(stream);
		}
	globfree(&files);
	return count;
}

void doctor_check_files(struct doctor_site *site)
{
	static const char *const programs[] = {"/usr/sbin/opensm", "/usr/local/sbin/opensm",
					       "/opt/opensm/sbin/opensm"};
	static const char *const plugins[] = {"/usr/lib/*/libheddle.so", "/usr/lib64/libheddle.so",
					      "/usr/local/lib/libheddle.so",
					      "/usr/local/lib/*/libheddle.so"};
	char *program =
	    site->opensm_path ? need(strdup(site->opensm_path)) : first_file(programs, 3);
	char *plugin = site->plugin_path ? need(strdup(site->plugin_path)) : first_file(plugins, 4);
	struct hd_error err;

	doctor_report_begin(&site->report, "versions");
	if (!program)
		doctor_report_skip(&site->report, "no program opensm was found; see --opensm");
	else if (!read_version(program, site->version, &err))
		doctor_report_skip(&site->report, "%s", err.text);
	else if (!plugin)
		doctor_report_skip(&site->report, "no libheddle.so was found; see --plugin");
	else {
		char version[DOCTOR_VERSION_SIZE];
		if (!read_version(plugin, version, &err))
			doctor_report_skip(&site->report, "%s", err.text);
		else if (strcmp(version, site->version) != 0)
			doctor_report_add(
			    &site->report, DOCTOR_ERROR, plugin,
			    "install the package of Heddle for this OpenSM, or build it: "
			    "doc/guide/opensm-versions.md",
			    "the plugin is for %s, but the program is %s, which does not load it",
			    version, site->version);
	}
	free(program);
	free(plugin);
	doctor_check_log(site);
	struct stat about;
	const unsigned functions = count_functions();
	doctor_report_begin(&site->report, "virtual-ports");
	if (stat("/sys/class/infiniband", &about))
		doctor_report_skip(&site->report, "this machine has no InfiniBand adapter");
	else if (functions)
		doctor_report_add(
		    &site->report, DOCTOR_WARNING, "/sys/class/infiniband",
		    "use the ports themselves, or the vendor's subnet manager",
		    "adapters of this machine have %u virtual functions: OpenSM 3.3 does not bring "
		    "up "
		    "virtual ports of ConnectX-4 and later (linux-rdma/opensm issue 22)",
		    functions);
}
