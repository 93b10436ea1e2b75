/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_site.h"

#include <heddle/fabric/builder.h>
#include <heddle/fabric/generate.h>
#include <heddle/fabric/write.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM 65536u

void key_site_die(const char *what)
{
	fprintf(stderr, "heddle-bench-views: %s\n", what);
	exit(EXIT_FAILURE);
}

/* ---- start and end ---- */

void key_site_make(struct key_site *site, const char *children, const char *parents)
{
	const struct hd_generator *generator = hd_generator_find("xgft");
	struct hd_options *options = hd_options_new(generator->options, generator->option_count);
	struct hd_fabric *fabric = NULL, *spread = NULL;
	struct hd_error err = {""};
	FILE *stream = open_memstream(&site->netlist, &site->length);

	if (!stream || hd_options_set(options, "children", children, &err) ||
	    hd_options_set(options, "parents", parents, &err) ||
	    generator->generate(options, &fabric, &err) ||
	    hd_fabric_assign_lids(fabric, 2, &spread, &err) ||
	    hd_fabric_write_netlist(spread, stream, &err) || fclose(stream))
		key_site_die(err.text);
	hd_fabric_free(spread);
	hd_fabric_free(fabric);
	hd_options_free(options);
	strcpy(site->folder, "/tmp/keyviews.XXXXXX");
	if (!mkdtemp(site->folder) || chmod(site->folder, 0755))
		key_site_die("cannot make a folder");
	snprintf(site->socket, sizeof(site->socket), "%s/keyd.sock", site->folder);
	snprintf(site->manager_socket, sizeof(site->manager_socket), "%s/sm.sock", site->folder);
}

static int connect_once(const struct key_site *site)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strncpy(address.sun_path, site->socket, sizeof(address.sun_path) - 1);
	if (descriptor >= 0 && connect(descriptor, (struct sockaddr *)&address, sizeof(address))) {
		close(descriptor);
		return -1;
	}
	return descriptor;
}

static void wait_ready(const struct key_site *site)
{
	struct key_site_stream stream;
	int descriptor;

	while ((descriptor = connect_once(site)) < 0)
		usleep(20000);
	close(descriptor);
	stream = key_site_open(site);
	while (key_site_call(&stream, "GET", "/v1/fabric", NULL) != 200 ||
	       !strstr(stream.answer, "\"state\":\"ready\""))
		usleep(50000);
	close(stream.descriptor);
	free(stream.answer);
}

void key_site_start(struct key_site *site, const char *program)
{
	char path[96];
	FILE *config;

	snprintf(path, sizeof(path), "%s/heddle.conf", site->folder);
	config = fopen(path, "w");
	if (!config)
		key_site_die("cannot write heddle.conf");
	fprintf(config,
		"[keyd]\nsocket = %s\nstate = %s/state\nsm_sockets = %s\nscheduler_uids = %u\n",
		site->socket, site->folder, site->manager_socket, (unsigned)getuid());
	fclose(config);
	site->daemon = fork();
	if (!site->daemon) {
		execl(program, program, "--config", path, (char *)NULL);
		_exit(127);
	}
	wait_ready(site);
}

void key_site_end(struct key_site *site)
{
	char command[128];

	kill(site->daemon, SIGTERM);
	waitpid(site->daemon, NULL, 0);
	if (site->manager)
		kill(site->manager, SIGTERM);
	snprintf(command, sizeof(command), "rm -r %s", site->folder);
	if (system(command))
		fprintf(stderr, "heddle-bench-views: %s is left\n", site->folder);
	free(site->netlist);
}

/* ---- calls ---- */

struct key_site_stream key_site_open(const struct key_site *site)
{
	struct key_site_stream stream = {.descriptor = connect_once(site), .room = ROOM};

	stream.answer = malloc(ROOM);
	if (stream.descriptor < 0 || !stream.answer)
		key_site_die("cannot connect to heddle-keyd");
	return stream;
}

static void send_all(const struct key_site_stream *stream, const char *bytes, size_t length)
{
	while (length) {
		ssize_t sent = write(stream->descriptor, bytes, length);

		if (sent <= 0)
			key_site_die("cannot send");
		bytes += sent;
		length -= (size_t)sent;
	}
}

static size_t receive(const struct key_site_stream *stream, char *bytes, size_t room)
{
	ssize_t got = read(stream->descriptor, bytes, room);

	if (got <= 0)
		key_site_die("heddle-keyd has closed a connection");
	return (size_t)got;
}

/* Reads to the end of the answer; what does not fit is dropped. */
static int read_answer(struct key_site_stream *stream)
{
	static char rest[ROOM];
	size_t length = 0, whole;
	const char *head, *body_length;

	do {
		length += receive(stream, stream->answer + length, stream->room - 1 - length);
		stream->answer[length] = '\0';
		head = strstr(stream->answer, "\r\n\r\n");
	} while (!head);
	body_length = strstr(stream->answer, "Content-Length: ");
	if (!body_length)
		key_site_die("an answer without a length");
	whole = (size_t)(head + 4 - stream->answer) + strtoul(body_length + 16, NULL, 10);
	while (length < whole && length < stream->room - 1)
		length += receive(stream, stream->answer + length, stream->room - 1 - length);
	stream->answer[length] = '\0';
	while (length < whole)
		length += receive(stream, rest, sizeof(rest));
	return atoi(stream->answer + 9);
}

int key_site_call(struct key_site_stream *stream, const char *method, const char *path,
		  const char *body)
{
	size_t length = body ? strlen(body) : 0, room = length + strlen(path) + 128;
	char *text = malloc(room);
	int head;

	if (!text)
		key_site_die("no memory");
	head = snprintf(text, room, "%s %s HTTP/1.1\r\nContent-Length: %zu\r\n\r\n%s", method, path,
			length, body ? body : "");
	send_all(stream, text, (size_t)head);
	free(text);
	return read_answer(stream);
}
