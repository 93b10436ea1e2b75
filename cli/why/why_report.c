/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of heddle why, as text and as JSON. */
#include "ebb_report.h"
#include "why.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ERRORS_SHOWN 20u
#define CHOICES_SHOWN 6u
#define AS_FULL 0.9 /* of the load of the bottleneck */
#define WORTH 0.05 /* less load on the busiest link is not worth a change */

static const char *link_text(const struct why_view *view, uint32_t link, char *buffer)
{
	return ebb_link_text(view->fabric, link, buffer, EBB_LINK_TEXT);
}

static const char *host_name(const struct why_view *view, uint32_t host)
{
	return view->fabric->node_name[view->fabric->port_node[view->fabric->host_port[host]]];
}

/* What counts of a choice: where the bottleneck is a link between switches, what its traffic would meet. */
static double weight_of(const struct why_view *view, const struct why_choice *choice)
{
	return why_hot_link(view) == HD_NONE ? choice->busiest : choice->hot;
}

static void add_text(char *buffer, size_t size, const char *format, ...) HD_PRINTF(3, 4);

static void add_text(char *buffer, size_t size, const char *format, ...)
{
	size_t used = strlen(buffer);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(buffer + used, size - used, format, arguments);
	va_end(arguments);
}

static void say_host(const struct why_view *view, const struct why_hot *hot, char *buffer,
		     size_t size)
{
	const char *name =
	    host_name(view, (hot->link - view->fabric->isl_count) % view->fabric->host_count);

	if (hot->slow_host)
		add_text(
		    buffer, size,
		    "The host '%s' does not take its packets in time: the port to it has to wait.",
		    name);
	else
		add_text(buffer, size,
			 "The bottleneck is the cable %s the host '%s': no routing changes that.",
			 hot->link >= view->fabric->isl_count + view->fabric->host_count ? "to"
											 : "from",
			 name);
}

/* Where several are as likely, all of them. */
static void say_link(const struct why_view *view, char *buffer, size_t size)
{
	char text[EBB_LINK_TEXT];
	bool several = view->hot_count > 1 && view->hot[1].as_likely;

	if (!several && why_is_host_link(view, view->hot[0].link)) {
		say_host(view, &view->hot[0], buffer, size);
		return;
	}
	add_text(buffer, size, "The bottleneck is %s", link_text(view, view->hot[0].link, text));
	for (uint32_t i = 1; i < view->hot_count && view->hot[i].as_likely; i++)
		add_text(buffer, size, ", or %s", link_text(view, view->hot[i].link, text));
	add_text(buffer, size, several ? ": the counters do not tell which." : ".");
}

static void say_errors(const struct why_view *view, char *buffer, size_t size)
{
	const uint32_t port = hd_congestion_link_port(view->fabric, view->hot[0].link);

	for (uint32_t i = 0; i < view->error_count; i++)
		if (view->errors[i].port == port ||
		    view->errors[i].port == view->fabric->peer[port]) {
			add_text(buffer, size, " Its cable has errors, which may be the cause.");
			return;
		}
}

/* A host behind the link whose own cable is as full: other tables do not help those who send to it. */
static bool say_behind(const struct why_view *view, char *buffer, size_t size)
{
	const struct why_hot *hot = &view->hot[0];
	const uint32_t first = view->fabric->isl_count + view->fabric->host_count;

	for (uint32_t i = 0; i < hot->users.flow_count; i++) {
		const uint32_t host = hot->users.flows[i].destination;
		if (view->measured->links[first + host].share <
		    AS_FULL * view->measured->links[hot->link].share)
			continue;
		add_text(buffer, size,
			 " The cable to the host '%s' behind it is as full, so other tables would "
			 "not make that host "
			 "receive more.",
			 host_name(view, host));
		return true;
	}
	return false;
}

static bool was_sent(const struct why_view *view)
{
	for (uint32_t link = 0; link < view->measured->link_count; link++)
		if (view->measured->links[link].bytes > 0)
			return true;
	return false;
}

const char *why_verdict(const struct why_view *view, char *buffer, size_t size)
{
	*buffer = '\0';
	if (*view->doubt)
		add_text(buffer, size, "Whether there is a bottleneck cannot be told: %s.",
			 view->doubt);
	else if (!why_has_bottleneck(view))
		add_text(buffer, size, "No bottleneck was found%s",
			 was_sent(view) ? "." : ": nothing was sent.");
	if (!why_has_bottleneck(view))
		return buffer;
	say_link(view, buffer, size);
	say_errors(view, buffer, size);
	if (!why_is_host_link(view, view->hot[0].link) && !say_behind(view, buffer, size)) {
		/* The best choice among those that lose nothing. */
		const struct why_choice *best = NULL;
		for (uint32_t i = 1; i < view->choice_count; i++) {
			const struct why_choice *choice = &view->choices[i],
						*least = best ? best : view->choices;
			double worth = best ? 0 : WORTH;
			if (!*choice->refused && choice->lost <= view->choices[0].lost + WORTH &&
			    weight_of(view, choice) < weight_of(view, least) - worth)
				best = choice;
		}
		if (best)
			add_text(buffer, size,
				 " With %s, what crosses it would meet links that carry at most "
				 "%.0f%% of "
				 "what it carries now.",
				 best->name, 100 * best->hot);
		else if (view->choice_count > 1)
			add_text(buffer, size,
				 " No other tables that were tried would help its traffic much.");
	}
	if (view->counters->ports_full)
		add_text(
		    buffer, size,
		    " Of %u ports counters are not known, as they had stopped: one may be worse.",
		    view->counters->ports_full);
	return buffer;
}

static void print_share(const char *name, double share, bool timed)
{
	if (share < 0)
		printf("  %s -", name);
	else if (timed)
		printf("  %s %.0f%%", name, 100 * share);
	else
		printf("  %s %.2f", name, share);
}

static void print_users(const struct why_view *view, const struct why_hot *hot)
{
	const struct hd_estimate_users *users = &hot->users;

	printf("     by the tables: %" PRIu64 " routes, of %u sources to %u destinations\n",
	       users->routes, users->sources, users->destinations);
	for (uint32_t i = 0; i < users->flow_count; i++)
		printf("     %s '%s' -> '%s'  %.0f%%\n",
		       i ? "           " : "estimated:", host_name(view, users->flows[i].source),
		       host_name(view, users->flows[i].destination),
		       users->bytes > 0 ? 100 * users->flows[i].bytes / users->bytes : 0);
	for (uint32_t job = 0; users->job_bytes && job <= view->allocation->job_count; job++)
		if (users->bytes > 0 && users->job_bytes[job] > 0.005 * users->bytes)
			printf("     job %s: %.0f%%\n",
			       job < view->allocation->job_count ? view->allocation->jobs[job]
								 : "-",
			       100 * users->job_bytes[job] / users->bytes);
}

static void print_hot(const struct why_view *view)
{
	const struct hd_measured *measured = view->measured;
	char text[EBB_LINK_TEXT];

	printf("\nHot links%s:\n",
	       measured->timed ? "" : " (no time is known: loads are relative to the largest)");
	if (!view->hot_count)
		puts("  none: no port has to wait for long");
	for (uint32_t i = 0; i < view->hot_count; i++) {
		const struct why_hot *hot = &view->hot[i];
		const struct hd_measured_link *row = &measured->links[hot->link];
		printf("%3u. %s", i + 1, link_text(view, hot->link, text));
		print_share("load", row->share, measured->timed);
		print_share("waits", row->wait, measured->ticked);
		printf("  hosts waiting %.2f%s%s\n", hot->hosts,
		       i == 0 && hot->bottleneck ? "  bottleneck"
		       : hot->as_likely		 ? "  as likely"
		       : hot->bottleneck	 ? "  congested"
						 : "",
		       hot->slow_host ? "  slow host" : "");
		if (view->estimate)
			print_users(view, hot);
	}
}

static void print_estimate(const struct why_view *view)
{
	const struct hd_estimate *estimate = view->estimate;

	if (!estimate) {
		printf("\nNo estimate of who sends to whom: %s\n", view->no_estimate.text);
		return;
	}
	printf("\nThe estimate of who sends to whom explains %.1f%% of the bytes on links between "
	       "switches\n"
	       "(from what hosts sent and received alone: %.1f%%; fitted to the links in %u "
	       "rounds).\n",
	       100 * estimate->explained, 100 * estimate->explained_first, estimate->rounds);
}

/* The number of the choice that is next after number `last`; ties go by number. choice_count: none. */
static uint32_t next_choice(const struct why_view *view, uint32_t last)
{
	uint32_t best = view->choice_count;

	for (uint32_t i = 1; i < view->choice_count; i++) {
		const struct why_choice *choice = &view->choices[i];
		double weight = weight_of(view, choice),
		       before = weight_of(view, &view->choices[last]);
		if (*choice->refused || choice->same_as)
			continue;
		if (last && (weight < before || (weight <= before && i <= last)))
			continue;
		if (best == view->choice_count || weight < weight_of(view, &view->choices[best]))
			best = i;
	}
	return best;
}

static void print_choice(const struct why_view *view, const struct why_choice *choice)
{
	char text[EBB_LINK_TEXT];

	printf("  %-32s", choice->name);
	if (why_hot_link(view) != HD_NONE)
		printf(" %5.0f%%", 100 * choice->hot);
	printf(" %5.0f%%  %s", 100 * choice->busiest,
	       choice->busiest_link == HD_NONE ? "-" : link_text(view, choice->busiest_link, text));
	const char *before = "; the same with ";
	for (const struct why_choice *other = choice + 1;
	     other < view->choices + view->choice_count; other++)
		if (other->same_as == choice) {
			printf("%s%s", before, other->name);
			before = ", ";
		}
	if (choice->lost > 0)
		printf("; %.1f%% of the traffic has no path", 100 * choice->lost);
	putchar('\n');
}

static void print_choices(const struct why_view *view)
{
	char text[EBB_LINK_TEXT];
	bool even = false;

	if (view->choice_count < 2)
		return;
	puts("\nThe same traffic by other tables (today's is 100%):");
	if (why_hot_link(view) != HD_NONE)
		puts("  the largest load that the traffic of the first hot link meets; the busiest "
		     "link between switches");
	else
		puts("  the busiest link between switches");
	print_choice(view, &view->choices[0]);
	uint32_t last = 0;
	for (uint32_t shown = 0; shown < CHOICES_SHOWN; shown++) {
		last = next_choice(view, last);
		if (last == view->choice_count)
			break;
		print_choice(view, &view->choices[last]);
		even |= view->choices[last].even_lids;
	}
	if (view->hosts_link != HD_NONE)
		printf("  %-32s%s %5.0f%%  %s\n", "cables of hosts, by any tables",
		       why_hot_link(view) != HD_NONE ? "       " : "", 100 * view->hosts,
		       link_text(view, view->hosts_link, text));
	if (even)
		puts("With a larger LMC programs would have to use all LIDs of a host evenly.");
}

void why_print(const struct why_view *view)
{
	char verdict[WHY_VERDICT_SIZE];

	printf("Counters: %u of %u ports in '%s' (%s)", view->counters->ports_read,
	       view->fabric->port_count, view->counters_path, view->counters->dialect);
	if (view->before_path)
		printf(", since '%s'", view->before_path);
	if (view->measured->timed)
		printf(", %.6g s", view->counters->seconds);
	printf("\nTables: %s\n\n%s\n", view->tables_name,
	       why_verdict(view, verdict, sizeof(verdict)));
	print_hot(view);
	char text[HD_LABEL_SIZE];
	if (view->error_count) {
		puts("\nPorts with errors:");
		for (uint32_t i = 0; i < view->error_count && i < ERRORS_SHOWN; i++) {
			const struct why_error *row = &view->errors[i];
			printf("  %s:", hd_port_label(view->fabric, row->port, text, sizeof(text)));
			for (unsigned k = HD_SYMBOL_ERRORS; k < HD_COUNTERS; k++)
				if (view->counters->ports[row->port].value[k])
					printf(" %s %" PRIu64, hd_counter_name(k),
					       view->counters->ports[row->port].value[k]);
			puts(row->hot ? "  (hot link)" : "");
		}
		if (view->error_count > ERRORS_SHOWN)
			printf("  and %u more\n", view->error_count - ERRORS_SHOWN);
	}
	print_estimate(view);
	print_choices(view);
}
