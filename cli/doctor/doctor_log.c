/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The log of OpenSM: which file it is, what it says, and its size.
 *
 * Where the log is, only the running OpenSM knows: Debian's service starts one for each port with the option --log_file
 * /var/log/opensm.GUID.log, which overrides log_file in opensm.conf. So the logs are, in this order:
 *
 *	1. the file that was typed (--log);
 *	2. with --live, the files that each running OpenSM of this machine has open for reading and writing, which is how
 *	   it opens its log. Only root and the user of that OpenSM can see them. A process counts that has the name
 *	   opensm and belongs to root or to the caller, so that no other user can choose what is read;
 *	3. log_file of opensm.conf, or OpenSM's default, and the files of Debian's service, if they are there.
 *
 * All of them are read, and a note names each. A file without a line of OpenSM is no log. Lines count since the last start of
 * OpenSM in that file.
 */
#include "doctor_site.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_READ ((off_t)64 << 20) /* bytes at the end of the log */
#define LOG_LARGE ((off_t)512 << 20)
#define LOG_DEFAULT "/var/log/opensm.log"
#define LOGS_OF_PORTS "/var/log/opensm.0x*.log" /* Debian's service */
#define LOGS_MAX 32
#define PROGRAM "opensm"

FILE *doctor_open_regular(const char *path, struct stat *about, struct hd_error *err)
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

struct log_file {
	char path[DOCTOR_PLACE_SIZE];
	int process; /* of the OpenSM that has it open; 0: unknown */
	dev_t device;
	ino_t inode;
	off_t size;
	struct log_facts facts;
};

struct logs {
	struct log_file list[LOGS_MAX]; /* [count] */
	unsigned count;
	struct hd_error err; /* why the file that was expected could not be read; "" it was */
};

/* Reads a stream and closes it. A file that was read already, or is one too many, is left out. */
static void read_log(struct logs *logs, FILE *stream, const char *path, int process)
{
	struct log_file *log = &logs->list[logs->count];
	struct stat about;
	bool is_new = logs->count < LOGS_MAX && !fstat(fileno(stream), &about);

	for (unsigned i = 0; is_new && i < logs->count; i++)
		is_new =
		    logs->list[i].device != about.st_dev || logs->list[i].inode != about.st_ino;
	if (is_new) {
		*log = (struct log_file){.process = process,
					 .device = about.st_dev,
					 .inode = about.st_ino,
					 .size = about.st_size};
		snprintf(log->path, sizeof(log->path), "%s", path);
		char *line = NULL;
		size_t room = 0;
		if (about.st_size > LOG_READ)
			fseeko(stream, about.st_size - LOG_READ, SEEK_SET);
		while (getline(&line, &room, stream) >= 0) {
			const char *start = strstr(line, "-> " DOCTOR_VERSION_BEGINS);
			log->facts.is_log |= is_log_line(line);
			if (start &&
			    isdigit((unsigned char)start[3 + strlen(DOCTOR_VERSION_BEGINS)])) {
				const size_t length = strcspn(start + 3, "\r\n");
				log->facts = (struct log_facts){.is_log = log->facts.is_log};
				snprintf(log->facts.version, sizeof(log->facts.version), "%.*s",
					 (int)length, start + 3);
			}
			for (unsigned i = 0; i < KNOWN_COUNT; i++)
				log->facts.counts[i] += strstr(line, known_lines[i].words) != NULL;
		}
		free(line);
		logs->count++;
	}
	fclose(stream);
}

static void read_path(struct logs *logs, const char *path)
{
	struct stat about;
	FILE *stream = doctor_open_regular(path, &about, &logs->err);

	if (stream)
		read_log(logs, stream, path, 0);
}

/* Reads the regular files that a process has open for reading and writing. `files` is its folder fd of /proc. */
static void read_open_files(struct logs *logs, int files, int process)
{
	DIR *list = fdopendir(files);
	const struct dirent *entry;

	while (list && (entry = readdir(list))) {
		char path[DOCTOR_PLACE_SIZE];
		struct stat link, about;
		const ssize_t length = readlinkat(files, entry->d_name, path, sizeof(path) - 1);
		if (length < 0 || fstatat(files, entry->d_name, &link, AT_SYMLINK_NOFOLLOW) ||
		    (link.st_mode & 0600) != 0600 || fstatat(files, entry->d_name, &about, 0) ||
		    !S_ISREG(about.st_mode))
			continue;
		path[length] = '\0';
		const int file = openat(files, entry->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		FILE *stream = file < 0 ? NULL : fdopen(file, "r");
		if (stream)
			read_log(logs, stream, path, process);
		else if (file >= 0)
			close(file);
	}
	if (list)
		closedir(list);
	else
		close(files);
}

static void read_running(struct logs *logs)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;

	while (processes && (entry = readdir(processes))) {
		const int process = atoi(entry->d_name);
		const int folder = process > 0 ? openat(dirfd(processes), entry->d_name,
							O_RDONLY | O_DIRECTORY | O_CLOEXEC)
					       : -1;
		if (folder < 0)
			continue;
		/* Whether a folder of /proc is that of an OpenSM of root or of the caller. */
		char name[sizeof(PROGRAM) + 1] = "";
		struct stat about;
		const int file = openat(folder, "comm", O_RDONLY | O_CLOEXEC);
		const ssize_t length = file < 0 ? -1 : read(file, name, sizeof(name) - 1);
		if (file >= 0)
			close(file);
		const int files = length > 0 && !strcmp(name, PROGRAM "\n") &&
					  !fstat(folder, &about) &&
					  (!about.st_uid || about.st_uid == geteuid())
				      ? openat(folder, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				      : -1;
		if (files >= 0)
			read_open_files(logs, files, process);
		close(folder);
	}
	if (processes)
		closedir(processes);
}

static bool has_log(const struct logs *logs)
{
	for (unsigned i = 0; i < logs->count; i++)
		if (logs->list[i].facts.is_log)
			return true;
	return false;
}

static void find_logs(const struct doctor_site *site, struct logs *logs)
{
	glob_t files;

	if (site->log_path) {
		read_path(logs, site->log_path);
		return;
	}
	if (site->live)
		read_running(logs);
	if (has_log(logs))
		return;
	if (!glob(LOGS_OF_PORTS, 0, NULL, &files))
		for (size_t i = 0; i < files.gl_pathc; i++)
			read_path(logs, files.gl_pathv[i]);
	globfree(&files);
	read_path(logs, doctor_option(site, "log_file", LOG_DEFAULT));
}

static void report_log(struct doctor_site *site, const struct log_file *log)
{
	const struct log_facts *facts = &log->facts;

	if (log->process)
		doctor_report_add(&site->report, DOCTOR_NOTE, log->path, "",
				  "this log was read: OpenSM, process %d, writes it", log->process);
	else
		doctor_report_add(&site->report, DOCTOR_NOTE, log->path, "", "this log was read");
	for (unsigned i = 0; i < KNOWN_COUNT; i++)
		if (facts->counts[i])
			doctor_report_add(&site->report, known_lines[i].severity, log->path,
					  known_lines[i].mend, "%s (lines with '%s': %u)",
					  known_lines[i].text, known_lines[i].words,
					  facts->counts[i]);
	if (*facts->version && *site->version && strcmp(facts->version, site->version) != 0)
		doctor_report_add(&site->report, DOCTOR_WARNING, log->path, "restart OpenSM",
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

void doctor_check_log(struct doctor_site *site)
{
	struct logs logs = {.count = 0};

	find_logs(site, &logs);
	doctor_report_begin(&site->report, "log");
	for (unsigned i = 0; i < logs.count; i++)
		if (logs.list[i].facts.is_log)
			report_log(site, &logs.list[i]);
	if (!logs.count)
		doctor_report_skip(&site->report, "%s, and there is no " LOGS_OF_PORTS,
				   logs.err.text);
	else if (!has_log(&logs))
		doctor_report_skip(&site->report, "%s: it has no line of OpenSM",
				   logs.list[0].path);
	const unsigned most = doctor_option_number(site, "log_max_size", 0);
	char place[DOCTOR_PLACE_SIZE];
	doctor_report_begin(&site->report, "log-size");
	if (!logs.count) {
		doctor_report_skip(&site->report, "the log was not read");
		return;
	}
	for (unsigned i = 0; i < logs.count; i++)
		if (logs.list[i].size > LOG_LARGE)
			doctor_report_add(
			    &site->report, DOCTOR_WARNING, logs.list[i].path,
			    "write log_max_size 100 (MB), or let logrotate do it more often",
			    "the log has %lld MB", (long long)(logs.list[i].size >> 20));
	if (!site->conf)
		doctor_report_skip(&site->report, "opensm.conf was not read");
	else if (!most && !rotates(site))
		doctor_report_add(
		    &site->report, DOCTOR_WARNING, doctor_option_place(site, "log_max_size", place),
		    "write log_max_size 100 (MB), or a file opensm in /etc/logrotate.d",
		    "nothing limits the size of OpenSM's log: log_max_size is 0, and logrotate "
		    "does not know it");
}
