/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent_control.h"

#include "agent.h"
#include "agent_tables.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/listener.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_LONGEST 64u

struct agent_control {
	struct agent *agent;
	struct evconnlistener *listener;
	char *path;
};

static void on_written(struct bufferevent *stream, void *context)
{
	(void)context;
	bufferevent_free(stream);
}

static void on_end(struct bufferevent *stream, short what, void *context)
{
	(void)what;
	(void)context;
	bufferevent_free(stream);
}

static void answer(struct bufferevent *stream, const struct agent *agent, const char *name)
{
	json_t *table = agent_tables_make(agent, name);
	char *text = table ? json_dumps(table, JSON_COMPACT) : NULL;

	json_decref(table);
	bufferevent_disable(stream, EV_READ);
	bufferevent_setcb(stream, NULL, on_written, on_end, NULL);
	if (text)
		bufferevent_write(stream, text, strlen(text));
	else
		bufferevent_free(stream);
	free(text);
}

static void on_line(struct bufferevent *stream, void *context)
{
	const struct agent_control *control = context;
	struct evbuffer *input = bufferevent_get_input(stream);
	char *line = evbuffer_readln(input, NULL, EVBUFFER_EOL_LF);

	if (line)
		answer(stream, control->agent, line);
	else if (evbuffer_get_length(input) > LINE_LONGEST)
		bufferevent_free(stream);
	free(line);
}

static void on_client(struct evconnlistener *listener, evutil_socket_t descriptor,
		      struct sockaddr *address, int length, void *context)
{
	struct agent_control *control = context;
	struct bufferevent *stream =
	    bufferevent_socket_new(control->agent->base, descriptor, BEV_OPT_CLOSE_ON_FREE);

	(void)listener;
	(void)address;
	(void)length;
	if (!stream) {
		close(descriptor);
		return;
	}
	bufferevent_setcb(stream, on_line, NULL, on_end, control);
	bufferevent_enable(stream, EV_READ | EV_WRITE);
}

/* Whether somebody accepts connections at the path. */
static bool is_served(const struct sockaddr_un *address)
{
	int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool served =
	    probe >= 0 && !connect(probe, (const struct sockaddr *)address, sizeof(*address));

	if (probe >= 0)
		close(probe);
	return served;
}

static int listen_at(struct agent_control *control, const char *path, struct hd_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t mask;

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (is_served(&address))
		return hd_error_set(err, -EADDRINUSE, "%s: another heddle-router is running", path);
	unlink(path);
	mask = umask(S_IXUSR | S_IXGRP | S_IRWXO);
	control->listener = evconnlistener_new_bind(
	    control->agent->base, on_client, control, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC,
	    -1, (struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (!control->listener)
		return hd_error_set(err, errno ? -errno : -EIO, "%s: cannot listen: %s", path,
				    strerror(errno));
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
	rc = listen_at(control, path, err);
	if (rc)
		agent_control_free(control);
	else
		*out = control;
	return rc;
}

void agent_control_free(struct agent_control *control)
{
	if (!control)
		return;
	if (control->listener)
		evconnlistener_free(control->listener);
	if (control->path)
		unlink(control->path);
	free(control->path);
	free(control);
}
