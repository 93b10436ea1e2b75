/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs, the log, and this machine. */
#include "doctor_site.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <heddle/base/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM_LARGEST ((size_t)256 << 20) /* bytes */
#define LOG_READ ((off_t)64 << 20) /* bytes at the end of the log */
#define LOG_LARGE ((off_t)512 << 20)
#define VERSION_BEGINS "OpenSM "

/* ---- files ---- */

/* Opens a regular file; never waits for a FIFO. NULL: the error is set. */
static FILE *open_regular(const char *path, struct stat *about, struct hd_error *err)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *stream = NULL;

	if (file < 0 || fstat(file, about))
		hd_error_set(err, -errno, "%s: cannot open: %s", path, strerror(errno));
	else if (!S_ISREG(about->st_mode))
		hd_error_set(err, -EINVAL, "%s: cannot read: not a regular file", path);
	else if (!(stream = fdopen(file, "r")))
		hd_error_no_memory(err);
	if (!stream && file >= 0)
		close(file);
	return stream;
}

/* What was typed must be there. */
int doctor_expect_files(const struct doctor_site *site, struct hd_error *err)
{
	const char *const typed[] = {site->log_path, site->name_map, site->opensm_path,
				     site->plugin_path};
	struct stat about;

	for (unsigned i = 0; i < sizeof(typed) / sizeof(typed[0]); i++) {
		FILE *stream = typed[i] ? open_regular(typed[i], &about, err) : NULL;
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

/* ---- versions ---- */

/* The first text of its own in a program or library that is OpenSM's name and version. False: it has none. */
static bool find_version(const struct hd_text *text, char version[DOCTOR_VERSION_SIZE])
{
	const size_t begin = strlen(VERSION_BEGINS);
	const char *at = text->bytes, *end = text->bytes + text->length;

	while (at < end && (at = memmem(at, (size_t)(end - at), VERSION_BEGINS, begin))) {
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
			found = strdup(files.gl_pathv[0]);
		globfree(&files);
	}
	return found;
}

static void compare_versions(struct doctor_site *site, const char *plugin)
{
	char version[DOCTOR_VERSION_SIZE];
	struct hd_error err;

	if (!read_version(plugin, version, &err))
		doctor_report_skip(&site->report, "%s", err.text);
	else if (strcmp(version, site->version) != 0)
		doctor_report_add(
		    &site->report, DOCTOR_ERROR, plugin,
		    "install the package of Heddle for this OpenSM, or build it: "
		    "doc/guide/opensm-versions.md",
		    "the plugin is for %s, but the program is %s, which does not load it", version,
		    site->version);
}

static void check_versions(struct doctor_site *site)
{
	static const char *const programs[] = {"/usr/sbin/opensm", "/usr/local/sbin/opensm",
					       "/opt/opensm/sbin/opensm"};
	static const char *const plugins[] = {"/usr/lib/*/libheddle.so", "/usr/lib64/libheddle.so",
					      "/usr/local/lib/libheddle.so",
					      "/usr/local/lib/*/libheddle.so"};
	char *program = site->opensm_path ? strdup(site->opensm_path) : first_file(programs, 3);
	char *plugin = site->plugin_path ? strdup(site->plugin_path) : first_file(plugins, 4);
	struct hd_error err;

	doctor_report_begin(&site->report, "versions");
	if (!program)
		doctor_report_skip(&site->report, "no program opensm was found; see --opensm");
	else if (!read_version(program, site->version, &err))
		doctor_report_skip(&site->report, "%s", err.text);
	else if (!plugin)
		doctor_report_skip(&site->report, "no libheddle.so was found; see --plugin");
	else
		compare_versions(site, plugin);
	free(program);
	free(plugin);
}

/* ---- the log ---- */

/* What lines of the log mean that OpenSM cannot do its work. */
static const struct {
	const char *words;
	enum doctor_severity severity;
	const char *text, *mend;
} known_lines[] = {
    {"ERR 5426: Unable to register class 129", DOCTOR_ERROR,
     "OpenSM could not take the port. Seen with Linux 6.11.2 to 6.11.5 where 6.10.11 worked "
     "(linux-rdma/opensm issue "
     "37), and when another subnet manager of this machine has the port",
     "end the other subnet manager, or start the kernel that worked before, or a later one"},
    {"OpenSM version mismatch", DOCTOR_ERROR,
     "OpenSM did not load the plugin, which is for another version",
     "install the package of Heddle for this OpenSM, or build it: doc/guide/opensm-versions.md"},
    {"ERR HD01:", DOCTOR_ERROR, "Heddle, a part of it or an engine module could not be loaded",
     "the line says why; doc/guide/troubleshooting.md says what to do"},
    {"ERR HD02:", DOCTOR_ERROR, "heddle.conf has a fault, and another configuration is in force",
     "heddle config check lists all faults"},
    {"Unrecognized token", DOCTOR_WARNING, "OpenSM does not know an option of opensm.conf",
     "heddle doctor --opensm-conf FILE names it"},
};

#define KNOWN_COUNT (sizeof(known_lines) / sizeof(known_lines[0]))

struct log_facts {
	bool is_log; /* it has a line of OpenSM */
	unsigned counts[KNOWN_COUNT]; /* since OpenSM was started last */
	char version
	    [DOCTOR_VERSION_SIZE]; /* of that OpenSM; "" its start is not in the part that was read */
};

/* Whether a line has the mark of OpenSM's: "[THREAD] 0xLEVEL -> ". */
static bool is_log_line(const char *line)
{
	for (const char *at = line; (at = strstr(at, "] 0x")); at++)
		if (isxdigit((unsigned char)at[4]) && isxdigit((unsigned char)at[5]) &&
		    !strncmp(at + 6, " -> ", 4))
			return true;
	return false;
}

static void take_log_line(struct log_facts *facts, const char *line)
{
	const char *start = strstr(line, "-> " VERSION_BEGINS);

	facts->is_log |= is_log_line(line);
	if (start && isdigit((unsigned char)start[3 + strlen(VERSION_BEGINS)])) {
		const size_t length = strcspn(start + 3, "\r\n");
		*facts = (struct log_facts){.is_log = facts->is_log};
		snprintf(facts->version, sizeof(facts->version), "%.*s", (int)length, start + 3);
	}
	for (unsigned i = 0; i < KNOWN_COUNT; i++)
		facts->counts[i] += strstr(line, known_lines[i].words) != NULL;
}

static void scan_log(FILE *stream, off_t size, struct log_facts *facts)
{
	char *line = NULL;
	size_t room = 0;

	if (size > LOG_READ)
		fseeko(stream, size - LOG_READ, SEEK_SET);
	while (getline(&line, &room, stream) >= 0)
		take_log_line(facts, line);
	free(line);
}

static void report_log(struct doctor_site *site, const char *path, const struct log_facts *facts)
{
	if (!facts->is_log) {
		doctor_report_skip(&site->report, "%s: it has no line of OpenSM", path);
		return;
	}
	for (unsigned i = 0; i < KNOWN_COUNT; i++)
		if (facts->counts[i])
			doctor_report_add(&site->report, known_lines[i].severity, path,
					  known_lines[i].mend, "%s (lines with '%s': %u)",
					  known_lines[i].text, known_lines[i].words,
					  facts->counts[i]);
	if (*facts->version && *site->version && strcmp(facts->version, site->version) != 0)
		doctor_report_add(&site->report, DOCTOR_WARNING, path, "restart OpenSM",
				  "the log is of %s, but the program is %s", facts->version,
				  site->version);
}

static bool rotates(const struct doctor_site *site)
{
	const char *folder = site->logrotate ? site->logrotate : "/etc/logrotate.d";
	char pattern[DOCTOR_PLACE_SIZE];
	glob_t files;

	snprintf(pattern, sizeof(pattern), "%s/*opensm*", folder);
	const bool found = !glob(pattern, 0, NULL, &files);
	globfree(&files);
	return found;
}

static void check_size(struct doctor_site *site, const char *path, off_t size)
{
	const unsigned most = doctor_option_number(site, "log_max_size", 0);
	char place[DOCTOR_PLACE_SIZE];

	doctor_report_begin(&site->report, "log-size");
	if (size > LOG_LARGE)
		doctor_report_add(&site->report, DOCTOR_WARNING, path,
				  "write log_max_size 100 (MB), or let logrotate do it more often",
				  "the log has %lld MB", (long long)(size >> 20));
	if (!site->conf)
		doctor_report_skip(&site->report, "opensm.conf was not read");
	else if (!most && !rotates(site))
		doctor_report_add(
		    &site->report, DOCTOR_WARNING, doctor_option_place(site, "log_max_size", place),
		    "write log_max_size 100 (MB), or a file opensm in /etc/logrotate.d",
		    "nothing limits the size of OpenSM's log: log_max_size is 0, and logrotate "
		    "does not "
		    "know it");
}

static void check_log(struct doctor_site *site)
{
	const char *path = site->log_path ? site->log_path
					  : doctor_option(site, "log_file", "/var/log/opensm.log");
	struct log_facts facts = {.is_log = false};
	struct hd_error err;
	struct stat about;
	FILE *stream = open_regular(path, &about, &err);

	doctor_report_begin(&site->report, "log");
	if (!stream) {
		doctor_report_skip(&site->report, "%s", err.text);
		doctor_report_begin(&site->report, "log-size");
		doctor_report_skip(&site->report, "the log was not read");
		return;
	}
	scan_log(stream, about.st_size, &facts);
	fclose(stream);
	report_log(site, path, &facts);
	check_size(site, path, about.st_size);
}

/* ---- this machine ---- */

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

static void check_machine(struct doctor_site *site)
{
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

void doctor_check_files(struct doctor_site *site)
{
	check_versions(site);
	check_log(site);
	check_machine(site);
}
