/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_links.h"

#include <heddle/fabric/graph.h>
#include <stdlib.h>
#include <string.h>

#define LINK_BYTES 120u /* of a link, about */

struct keyd_links_task {
	struct keyd_task task; /* first */
	void (*done)(void *context, struct keyd_links *links);
	void *context;
	struct keyd_links *links;
};

static uint32_t count_links(const struct keyd *keyd)
{
	return keyd->view ? keyd->loads->link_count : 0;
}

bool keyd_links_are_same(const struct keyd_links *links, const struct keyd *keyd)
{
	return links->view == keyd->view && links->link_count == count_links(keyd) &&
	       (!links->link_count || !memcmp(links->flows, keyd->loads->flows,
					      links->link_count * sizeof(links->flows[0])));
}

size_t keyd_links_size(const struct keyd *keyd, const struct keyd_links *links)
{
	if (links && links->view == keyd->view)
		return links->text->length;
	return count_links(keyd) * (size_t)LINK_BYTES;
}

static void write_end(struct keyd_writer *writer, const struct hd_fabric *fabric, uint32_t node,
		      const char *guid, const char *name)
{
	keyd_write_name(writer, guid);
	keyd_write_guid(writer, fabric->node_guid[node]);
	keyd_write_name(writer, name);
	keyd_write_string(writer, fabric->node_name[node]);
}

static void write_link(struct keyd_writer *writer, const struct keyd_links *links, uint32_t link)
{
	const struct hd_fabric *fabric = links->view->fabric;

	keyd_write_comma(writer);
	keyd_write(writer, "{");
	write_end(writer, fabric, hd_isl_from(fabric, link), "from", "from_name");
	keyd_write_name(writer, "port");
	keyd_write_number(writer, fabric->isl_port[link]);
	write_end(writer, fabric, fabric->isl_to[link], "to", "to_name");
	keyd_write_name(writer, "flows");
	keyd_write_number(writer, links->flows[link]);
	keyd_write(writer, "}");
}

static void make_text(struct keyd_task *task)
{
	struct keyd_links *links = ((struct keyd_links_task *)task)->links;
	struct keyd_writer writer = {.room = 0};
	uint32_t most = 0;

	keyd_write(&writer, "{\"links\":[");
	for (uint32_t link = 0; link < links->link_count; link++) {
		if (links->flows[link] || links->all)
			write_link(&writer, links, link);
		if (links->flows[link] > most)
			most = links->flows[link];
	}
	keyd_write(&writer, "]");
	keyd_write_name(&writer, "most");
	keyd_write_number(&writer, most);
	keyd_write(&writer, "}");
	links->text = keyd_writer_end(&writer);
}

static void on_made(struct keyd_task *task)
{
	struct keyd_links_task *making = (struct keyd_links_task *)task;

	if (!making->links->text) {
		keyd_links_free(making->links);
		making->links = NULL;
	}
	making->done(making->context, making->links);
	free(making);
}

static void drop_made(struct keyd_task *task)
{
	keyd_links_free(((struct keyd_links_task *)task)->links);
	free(task);
}

static struct keyd_links *copy_loads(const struct keyd *keyd, bool all)
{
	uint32_t count = count_links(keyd);
	struct keyd_links *links = malloc(sizeof(*links) + count * sizeof(links->flows[0]));

	if (!links)
		return NULL;
	*links = (struct keyd_links){.link_count = count, .all = all};
	if (keyd->view)
		links->view = keyd_view_hold(keyd->view);
	if (count)
		memcpy(links->flows, keyd->loads->flows, count * sizeof(links->flows[0]));
	return links;
}

struct keyd_links_task *keyd_links_make(const struct keyd *keyd, bool all,
					void (*done)(void *context, struct keyd_links *links),
					void *context)
{
	struct keyd_links_task *making = malloc(sizeof(*making));
	struct keyd_links *links = making ? copy_loads(keyd, all) : NULL;

	if (!links) {
		free(making);
		return NULL;
	}
	*making = (struct keyd_links_task){
	    .task = {.run = make_text, .finish = on_made, .drop = drop_made},
	    .done = done,
	    .context = context,
	    .links = links};
	keyd_workers_submit(keyd->writers, &making->task);
	return making;
}

void keyd_links_free(struct keyd_links *links)
{
	if (!links)
		return;
	keyd_text_release(links->text);
	keyd_view_release(links->view);
	free(links);
}
