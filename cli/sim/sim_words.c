/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct sim_words_ending sim_words_endings[SIM_WORDS_ENDINGS] = {
    {"throughput", "throughput"},	    {"latency.mean", "mean latency"},
    {"latency.median", "median latency"},   {"latency.p99", "99th percentile of latency"},
    {"latency.max", "largest latency"},	    {"delivered", "messages delivered"},
    {"packets_dropped", "packets dropped"},
};

static const struct sim_words_ending more_endings[] = {
    {"sent", "messages sent"},
    {"lost", "messages lost"},
    {"packet_latency.mean", "mean latency of packets"},
    {"packet_latency.median", "median latency of packets"},
    {"packet_latency.p99", "99th percentile of the latency of packets"},
    {"packet_latency.max", "largest latency of packets"},
};

static const struct sim_words_ending whole[] = {
    {"run.time", "time"},
    {"run.hops", "hops of packets"},
    {"run.events", "events of the simulation"},
    {"run.deadlock", "share of runs with a deadlock"},
    {"packets.made", "packets made"},
    {"packets.arrived", "packets arrived"},
    {"packets.in_flight", "packets in flight at the end"},
    {"packets.dropped", "packets dropped"},
    {"packets.dropped_head", "packets dropped at the head of a queue"},
    {"packets.dropped_switch", "packets dropped after their time in a switch"},
    {"packets.dropped_route", "packets dropped without a route"},
    {"links.most", "utilisation of the busiest link"},
    {"links.mean", "mean utilisation of links"},
};

static const char *find(const struct sim_words_ending *list, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].ending, text))
			return list[i].words;
	return NULL;
}

static void copy_words(char *buffer, size_t size, const char *text)
{
	size_t used = strlen(buffer);

	for (; *text && used + 1 < size; text++)
		buffer[used++] = strchr("._-@", *text) ? ' ' : *text;
	buffer[used] = '\0';
}

/* "class.NAME.ENDING" */
static bool of_class(const char *name, char *buffer, size_t size)
{
	const char *begin = name + strlen("class."), *dot;

	if (strncmp(name, "class.", strlen("class.")) != 0 || !(dot = strchr(begin, '.')))
		return false;
	const char *words = find(sim_words_endings, SIM_WORDS_ENDINGS, dot + 1);
	if (!words)
		words = find(more_endings, COUNT(more_endings), dot + 1);
	if (!words)
		return false;
	snprintf(buffer, size, "%s of %.*s", words, (int)(dot - begin), begin);
	return true;
}

/* "flow.NAME.share", "ebb.NAME.mean", and "NAME.what" of a kind of traffic. */
static void of_thing(const char *name, char *buffer, size_t size)
{
	bool flow = !strncmp(name, "flow.", strlen("flow."));
	bool pattern = !strncmp(name, "ebb.", strlen("ebb."));
	const char *thing = flow || pattern ? strchr(name, '.') + 1 : name;
	const char *last = flow || pattern ? strrchr(thing, '.') : strchr(thing, '.');

	*buffer = '\0';
	if (!last) {
		copy_words(buffer, size, name);
		return;
	}
	if (pattern && !strcmp(last, ".mean"))
		snprintf(buffer, size, "mean bandwidth");
	else
		copy_words(buffer, size, last + 1);
	size_t used = strlen(buffer);
	snprintf(buffer + used, size - used, " of %s%s%.*s", flow ? "flow " : "",
		 pattern ? "pattern " : "", (int)(last - thing), thing);
}

const char *sim_words_figure(const char *name, char *buffer, size_t size)
{
	const char *words = find(whole, COUNT(whole), name);

	if (words)
		snprintf(buffer, size, "%s", words);
	else if (!of_class(name, buffer, size))
		of_thing(name, buffer, size);
	return buffer;
}
