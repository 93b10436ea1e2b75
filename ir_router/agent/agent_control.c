/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control socket of heddle-router: a client sends a line with the name of a table, gets the table as JSON, and the
 * connection ends. on_client() takes a connection, on_line() answers, and on_written() or on_end() closes it. A client
 * that is silent for PATIENCE_S is closed. At most CLIENTS_MOST are served: one more takes the place of the oldest, so
 * that idle clients neither keep others out nor use up the descriptors that the router needs for its plugins.
 */
#include "agent_parts.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/listener.h>
#include <heddle/base/place.h>
#include <jansson.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_LONGEST 64u
#define CLIENTS_MOST 64u /* one more takes the place of the oldest */
#define PATIENCE_S 5 /* for a client to send its line, and to read the answer */

struct client {
	TAILQ_ENTRY(client) link; /* from the oldest */
	struct agent_control *control;
	struct bufferevent *stream;
};

struct agent_control {
	TAILQ_HEAD(client_list, client) clients;
	unsigned count;
	struct agent *agent;
	struct evconnlistener *listener;
	char *path;
	struct stat made; /* the file of the socket */
	bool bound;
};

static void drop(struct client *client)
{
	TAILQ_REMOVE(&client->control->clients, client, link);
	client->control->count--;
	bufferevent_free(client->stream);
	free(client);
}

static void on_written(struct bufferevent *stream, void *context)
{
	(void)stream;
	drop(context);
}

static void on_end(struct bufferevent *stream, short what, void *context)
{
	(void)stream;
	(void)what;
	drop(context);
}

static void answer(struct client *client, const char *name)
{
	const struct agent *agent = client->control->agent;
	const struct agent_state state = {agent->router, agent->links, agent->link_count};
	json_t *table = agent_tables_make(&state, name);
	char *text = table ? json_dumps(table, JSON_COMPACT) : NULL;

	json_decref(table);
	bufferevent_disable(client->stream, EV_READ);
	bufferevent_setcb(client->stream, NULL, on_written, on_end, client);
	if (text)
		bufferevent_write(client->stream, text, strlen(text));
	else
		drop(client);
	free(text);
}

static void on_line(struct bufferevent *stream, void *context)
{
	struct evbuffer *input = bufferevent_get_input(stream);
	char *line = evbuffer_readln(input, NULL, EVBUFFER_EOL_LF);

	if (line)
		answer(context, line);
	else if (evbuffer_get_length(input) > LINE_LONGEST)
		drop(context);
	free(line);
}

static void on_client(struct evconnlistener *listener, evutil_socket_t descriptor,
		      struct sockaddr *address, int length, void *context)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	struct agent_control *control = context;
	struct client *client = calloc(1, sizeof(*client));
	struct bufferevent *stream =
	    client ? bufferevent_socket_new(control->agent->base, descriptor, BEV_OPT_CLOSE_ON_FREE)
		   : NULL;

	(void)listener;
	(void)address;
	(void)length;
	if (!stream) {
		close(descriptor);
		free(client);
		return;
	}
	if (control->count == CLIENTS_MOST)
		drop(TAILQ_FIRST(&control->clients));
	*client = (struct client){.control = control, .stream = stream};
	TAILQ_INSERT_TAIL(&control->clients, client, link);
	control->count++;
	bufferevent_setcb(stream, on_line, NULL, on_end, client);
	bufferevent_set_timeouts(stream, &patience, &patience);
	bufferevent_enable(stream, EV_READ | EV_WRITE);
}

/* Whether a process has a socket there. A socket of another type cannot connect, so that process does not notice. */
static bool is_served(const struct sockaddr_un *address)
{
	int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = probe >= 0 && connect(probe, (const struct sockaddr *)address, sizeof(*address))
		     ? errno
		     : 0;

	if (probe >= 0)
		close(probe);
	return rc != ECONNREFUSED;
}

/* Removes what a heddle-router of this user has left there. Nothing else is its own. */
static int make_way(const struct sockaddr_un *address, struct hd_error *err)
{
	const char *path = address->sun_path;
	struct stat found;

	if (lstat(path, &found))
		return 0; /* bind() says what is wrong, if anything is */
	if (!S_ISSOCK(found.st_mode))
		return hd_error_set(err, -EEXIST, "%s: there is a file that is no socket; it stays",
				    path);
	if (is_served(address))
		return hd_error_set(err, -EADDRINUSE, "%s: another heddle-router is running", path);
	if (found.st_uid != geteuid())
		return hd_error_set(err, -EPERM, "%s: there is a socket of another user; it stays",
				    path);
	unlink(path);
	return 0;
}

/* If only the folder is missing. If that fails, bind() says why. */
static void make_folder(const char *path)
{
	char *folder = strdup(path);

	if (folder)
		mkdir(dirname(folder), 0755);
	free(folder);
}

static int listen_at(struct agent_control *control, const char *path, struct hd_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t mask;

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	make_folder(path);
	int rc = hd_place_check_folder(path, err);
	if (!rc)
		rc = make_way(&address, err);
	if (rc)
		return rc;
	mask = umask(S_IXUSR | S_IXGRP | S_IRWXO);
	control->listener = evconnlistener_new_bind(
	    control->agent->base, on_client, control, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC,
	    -1, (struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (!control->listener)
		return hd_error_set(err, errno ? -errno : -EIO, "%s: cannot listen: %s", path,
				    strerror(errno));
	control->bound = !lstat(path, &control->made);
	control->path = strdup(path);
	return control->path ? 0 : hd_error_no_memory(err);
}

int agent_control_new(struct agent *agent, const char *path, struct agent_control **out,
		      struct hd_error *err)
{
	struct agent_control *control = calloc(1, sizeof(*control));
	int rc;

	if (!control)
		return hd_error_no_memory(err);
	control->agent = agent;
	TAILQ_INIT(&control->clients);
	rc = listen_at(control, path, err);
	if (rc)
		agent_control_free(control);
	else
		*out = control;
	return rc;
}

static void remove_socket(const struct agent_control *control)
{
	struct stat found;

	if (!control->bound || !control->path || lstat(control->path, &found))
		return;
	if (found.st_dev == control->made.st_dev && found.st_ino == control->made.st_ino)
		unlink(control->path);
}

void agent_control_free(struct agent_control *control)
{
	if (!control)
		return;
	/* first: when the socket is closed, the number of its file can be that of another one */
	remove_socket(control);
	while (control->count)
		drop(TAILQ_FIRST(&control->clients));
	if (control->listener)
		evconnlistener_free(control->listener);
	free(control->path);
	free(control);
}
