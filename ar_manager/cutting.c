/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dependencies of the groups on loops are tried one after another: those that close no loop with what
 * is kept so far are kept, too. First come those that hosts have, then those of links after which
 * packets turn by their static ports, since turns in the same places rarely close a loop.
 *
 * All packets to one LID that have another dependency on a loop lose it at one of its two switches.
 * The first switch loses the link if it may choose there. In most cases only packets that need a
 * turn pass it, so hosts lose nothing.
 *
 * Where hosts alone have a loop, as on a fabric that is a tree only in part, nothing is known of their dependencies.
 * Then first come those of packets that keep an order, such as to climb, then descend.
 */
#include "cutting.h"
#include "circling.h"

#include <errno.h>
#include <string.h>

static struct hd_ar_proof_request proof_of(const struct hd_ar_request *request,
					   const struct hd_ar_plan *plan)
{
	return (struct hd_ar_proof_request){.fabric = request->fabric,
					    .routes = request->routes,
					    .plan = plan,
					    .threads = request->threads,
					    .go_on = request->go_on};
}

/* Collects LID by LID. The proving keeps a pointer to the request. */
static int cutting_collect(struct proving *proving, const struct hd_ar_proof_request *request,
			   bool groups, bool hosts_only)
{
	int rc = proving_init(proving, request, groups);

	proving->graphs.hosts_only = hosts_only;
	return rc ? rc : proof_graphs_collect(&proving->graphs, true, request->threads);
}

/* ---- what is known to be sound ---- */

/* Adds dependencies to a graph if they close no loop. */
static int add_sound(struct hd_dependencies *graph, const struct hd_dependencies *other,
		     struct hd_arena *arena, bool *sound)
{
	uint32_t links = graph->fabric->isl_count, length;
	size_t cells = (size_t)links * graph->words;
	uint64_t *before = hd_arena_alloc(arena, cells, sizeof(*before));
	uint32_t *cycle = hd_arena_alloc(arena, links, sizeof(*cycle));

	if (hd_arena_check(arena))
		return -ENOMEM;
	memcpy(before, graph->waits_for, cells * sizeof(*before));
	hd_dependencies_merge(graph, other);
	if (hd_dependencies_find_cycle(graph, cycle, &length))
		return -ENOMEM;
	*sound = !length;
	if (length)
		memcpy(graph->waits_for, before, cells * sizeof(*before));
	return 0;
}

/* Adds to a lane what hosts have on any lane, or else what they have on the same one, if that closes
 * no loop. Entries are the same for all lanes. */
static int add_to_lane(struct cutting *cutting, const struct proving *hosts, unsigned lane)
{
	struct hd_dependencies *graph = &cutting->known.graphs.workers[0].graphs[lane];
	struct hd_arena scratch = {0};
	bool sound = false;
	int rc = add_sound(graph, &cutting->hosts, &scratch, &sound);

	if (!rc && !sound)
		rc = add_sound(graph, &hosts->graphs.workers[0].graphs[lane], &scratch, &sound);
	hd_arena_release(&scratch);
	return rc;
}

static int add_to_lanes(struct cutting *cutting, const struct proving *hosts)
{
	int rc = 0;

	for (unsigned lane = 0; !rc && lane < PROOF_LANES; lane++) {
		if (!(hosts->graphs.used >> lane & 1))
			continue;
		/* The links after which only other senders than hosts have a static dependency. */
		const struct hd_dependencies *graph =
		    &cutting->known.graphs.workers[0].graphs[lane];
		size_t cells = (size_t)graph->fabric->isl_count * graph->words;
		for (size_t cell = 0; cell < cells; cell++)
			if (graph->waits_for[cell] & ~cutting->hosts.waits_for[cell])
				cutting->turns[cell / graph->words] = true;
		if (!cutting->hosts_loop)
			rc = add_to_lane(cutting, hosts, lane);
	}
	return rc;
}

static int init_hosts(struct cutting *cutting, const struct proving *hosts)
{
	const struct hd_fabric *fabric = cutting->request->fabric;

	cutting->turns =
	    hd_arena_alloc(&cutting->arena, fabric->isl_count, sizeof(*cutting->turns));
	hd_dependencies_init(&cutting->hosts, fabric, &cutting->arena);
	if (hd_arena_check(&cutting->arena))
		return -ENOMEM;
	for (unsigned lane = 0; lane < PROOF_LANES; lane++)
		if (hosts->graphs.used >> lane & 1)
			hd_dependencies_merge(&cutting->hosts,
					      &hosts->graphs.workers[0].graphs[lane]);
	return 0;
}

int cutting_init(struct cutting *cutting, const struct hd_ar_request *request,
		 const struct hd_ar_plan *plan, const uint8_t *order)
{
	*cutting =
	    (struct cutting){.request = request, .order = order, .proof = proof_of(request, plan)};
	int rc = cutting_collect(&cutting->known, &cutting->proof, false, false);
	if (!rc)
		rc = circling_look(&cutting->known);
	if (!rc) {
		const struct hd_fabric *fabric = cutting->request->fabric;
		const struct next_hops *next = &cutting->known.next;
		struct cuts *cuts = &cutting->cuts;
		*cuts = (struct cuts){.words = next->words, .destinations = next->lids->count};
		size_t sets = (size_t)fabric->switch_count * cuts->destinations;
		cuts->links =
		    hd_arena_alloc(&cutting->arena, sets * cuts->words, sizeof(*cuts->links));
		rc = hd_arena_check(&cutting->arena);
	}
	if (!rc) {
		struct proving hosts = {0};
		rc = cutting_collect(&hosts, &cutting->proof, true, true);
		if (!rc)
			rc = circling_look(&hosts);
		if (rc == -ELOOP && cutting->order) {
			cutting->hosts_loop = true;
			rc = 0;
		}
		if (!rc)
			rc = init_hosts(cutting, &hosts);
		if (!rc)
			rc = add_to_lanes(cutting, &hosts);
		proving_release(&hosts);
	}
	if (!rc) {
		/* From then on the graphs refuse what would close a loop. */
		struct proof_graphs *graphs = &cutting->known.graphs;
		struct hd_arena *arena = &cutting->arena;
		rc = hd_dependency_workspace_init(&cutting->workspace, graphs->fabric, arena);
		for (unsigned lane = 0; !rc && lane < PROOF_LANES; lane++) {
			struct hd_dependencies *graph = &graphs->workers[0].graphs[lane];
			if (!(graphs->used >> lane & 1))
				continue;
			rc = hd_dependencies_order(graph, &cutting->workspace, arena);
			if (!rc)
				rc = hd_dependencies_init_batches(graph, arena);
		}
	}
	cutting->proof.plan = NULL;
	return rc;
}

void cutting_release(struct cutting *cutting)
{
	proving_release(&cutting->known);
	hd_arena_release(&cutting->arena);
}

/* ---- what is kept ---- */

static struct hd_dependencies *graph_of(struct cutting *cutting, const struct circling_pair *pair)
{
	return &cutting->known.graphs.workers[0].graphs[pair->lane];
}

static bool cutting_keep(struct cutting *cutting, const struct circling_pair *pair)
{
	return hd_dependencies_add(graph_of(cutting, pair), pair->link, pair->next);
}

static bool is_any(const struct cutting *cutting, const struct circling_pair *pair)
{
	(void)cutting;
	(void)pair;
	return true;
}

static bool is_of_hosts(const struct cutting *cutting, const struct circling_pair *pair)
{
	return hd_dependencies_has(&cutting->hosts, pair->link, pair->next);
}

static bool is_of_hosts_in_order(const struct cutting *cutting, const struct circling_pair *pair)
{
	return (cutting->order[pair->link] <= cutting->order[pair->next]) &&
	       is_of_hosts(cutting, pair);
}

/* Keeps pairs one by one, and takes them from the list. */
static void keep_each(struct cutting *cutting, struct circling *circling,
		      bool (*wanted)(const struct cutting *cutting,
				     const struct circling_pair *pair))
{
	size_t left = 0;

	for (size_t i = 0; i < circling->count; i++) {
		const struct circling_pair *pair = &circling->pairs[i];
		if (!wanted(cutting, pair) || !cutting_keep(cutting, pair))
			circling->pairs[left++] = *pair;
	}
	circling->count = left;
}

/* All or none. */
static bool keep_pairs(struct cutting *cutting, const struct circling_pair *pairs, size_t count)
{
	struct hd_dependencies *graph = graph_of(cutting, pairs);
	bool fits = true;

	hd_dependencies_begin_batch(graph);
	for (size_t i = 0; fits && i < count; i++)
		fits = cutting_keep(cutting, &pairs[i]);
	if (fits)
		hd_dependencies_keep_batch(graph);
	else
		hd_dependencies_undo_batch(graph);
	return fits;
}

static size_t pairs_of_link(const struct circling *circling, size_t begin)
{
	const struct circling_pair *first = &circling->pairs[begin];
	size_t end = begin;

	while (end < circling->count && circling->pairs[end].link == first->link &&
	       circling->pairs[end].lane == first->lane)
		end++;
	return end - begin;
}

/* Keeps links with all their pairs, and takes these from the list. */
static void keep_links(struct cutting *cutting, struct circling *circling, bool turns)
{
	size_t left = 0;

	for (size_t begin = 0, count; begin < circling->count; begin += count) {
		struct circling_pair *pairs = &circling->pairs[begin];
		count = pairs_of_link(circling, begin);
		if (cutting->turns[pairs->link] == turns && keep_pairs(cutting, pairs, count))
			continue;
		memmove(&circling->pairs[left], pairs, count * sizeof(*pairs));
		left += count;
	}
	circling->count = left;
}

/* ---- what is cut ---- */

/* A search for the packets that have dependencies on loops. */
struct finding {
	struct cutting *cutting;
	struct proving all;
	struct circling circling;
	struct hd_dependencies
	    loose[PROOF_LANES]; /* the pairs of `circling`; of lanes that have some */
	size_t *firsts; /* [first_count] the first pair of each link and lane */
	size_t first_count;
	bool columns;
	bool *seen; /* [switch_count] */
	uint32_t *queue; /* [switch_count] */
	uint64_t count; /* links cut */
};

static void cut(struct finding *finding, uint32_t link, uint32_t destination)
{
	const struct hd_fabric *fabric = finding->cutting->request->fabric;
	uint32_t sw = hd_isl_from(fabric, link), bit = link - fabric->isl_base[sw];
	uint64_t *set = cuts_get(&finding->cutting->cuts, sw, destination);

	finding->count += !link_sets_has(set, bit);
	link_sets_add(set, bit);
}

static bool is_static(const struct finding *finding, uint32_t link, uint32_t lid)
{
	const struct hd_ar_request *request = finding->cutting->request;
	uint32_t sw = hd_isl_from(request->fabric, link);

	return hd_routes_port(request->routes, sw, lid) == request->fabric->isl_port[link];
}

static bool has(const struct finding *finding, uint32_t link)
{
	const struct hd_fabric *fabric = finding->cutting->request->fabric;
	uint32_t sw = hd_isl_from(fabric, link);

	return link_sets_has(finding->all.graphs.workers[0].links[sw], link - fabric->isl_base[sw]);
}

/* Cuts the choices by which packets come to a switch, or to those from which they come by static
 * ports. */
static void cut_choices(struct finding *finding, uint32_t first, uint32_t lid)
{
	const struct hd_fabric *fabric = finding->cutting->request->fabric;
	const struct proof_graphs_worker *worker = &finding->all.graphs.workers[0];
	uint32_t count = 0;

	memset(finding->seen, 0, fabric->switch_count * sizeof(*finding->seen));
	finding->seen[first] = true;
	finding->queue[count++] = first;
	for (uint32_t done = 0; done < count; done++) {
		uint32_t sw = finding->queue[done];
		for (uint32_t out = fabric->isl_base[sw]; out < fabric->isl_base[sw + 1]; out++) {
			uint32_t link = fabric->isl_reverse[out], from = fabric->isl_to[out];
			if (!worker->passing[from] || !has(finding, link))
				continue;
			if (!is_static(finding, link, lid)) {
				cut(finding, link, finding->all.lids.destination[lid]);
			} else if (!finding->seen[from]) {
				finding->seen[from] = true;
				finding->queue[count++] = from;
			}
		}
	}
}

/* Where both are static, packets come to the first switch only by a choice before. */
static void cut_pair(struct finding *finding, const struct circling_pair *pair, uint32_t lid)
{
	uint32_t destination = finding->all.lids.destination[lid];

	if (finding->columns) {
		for (uint32_t link = 0; link < finding->cutting->request->fabric->isl_count; link++)
			cut(finding, link, destination);
	} else if (!is_static(finding, pair->link, lid))
		cut(finding, pair->link, destination);
	else if (!is_static(finding, pair->next, lid))
		cut(finding, pair->next, destination);
	else
		cut_choices(finding, hd_isl_from(finding->cutting->request->fabric, pair->link),
			    lid);
}

/* The links by which packets to the LID go on after a link and which they must not hold it for. */
static void look_at_link(struct finding *finding, uint32_t lane, uint32_t link, uint32_t lid)
{
	const struct hd_fabric *fabric = finding->cutting->request->fabric;
	const uint64_t *rows = finding->loose[lane].waits_for;
	uint32_t words = finding->loose[lane].words, to = fabric->isl_to[link];
	const uint64_t *links = finding->all.graphs.workers[0].links[to];

	for (uint32_t word = 0; word < words; word++)
		for (uint64_t left = rows[(size_t)link * words + word] & links[word]; left;
		     left &= left - 1) {
			uint32_t bit = word * 64 + (uint32_t)__builtin_ctzll(left);
			const struct circling_pair pair = {link, fabric->isl_base[to] + bit, lane};
			cut_pair(finding, &pair, lid);
		}
}

static int look_at_lids(struct finding *finding)
{
	const struct host_lids *lids = &finding->all.lids;
	uint32_t switches = finding->cutting->request->fabric->switch_count;
	struct hd_arena *arena = &finding->all.arena;

	finding->seen = hd_arena_alloc(arena, switches, sizeof(*finding->seen));
	finding->queue = hd_arena_alloc(arena, switches, sizeof(*finding->queue));
	if (hd_arena_check(arena))
		return -ENOMEM;
	const struct circling *circling = &finding->circling;

	finding->firsts = hd_arena_alloc(arena, circling->count, sizeof(*finding->firsts));
	if (!finding->firsts)
		return -ENOMEM;
	for (size_t begin = 0, count; begin < circling->count; begin += count) {
		const struct circling_pair *pairs = &circling->pairs[begin];
		struct hd_dependencies *graph = &finding->loose[pairs->lane];
		count = pairs_of_link(circling, begin);
		finding->firsts[finding->first_count++] = begin;
		if (!graph->waits_for &&
		    hd_dependencies_init(graph, finding->cutting->request->fabric, arena))
			return -ENOMEM;
		for (size_t i = 0; i < count; i++)
			hd_dependencies_collect(graph, pairs[i].link, pairs[i].next);
	}
	for (uint32_t lid = 0; lid < lids->lid_count; lid++) {
		if (lids->destination[lid] == HD_NONE)
			continue;
		if (!hd_go_on_ask(&finding->cutting->request->go_on))
			return -ECANCELED;
		const struct hd_fabric *fabric = finding->cutting->request->fabric;
		const struct proof_graphs_worker *worker = &finding->all.graphs.workers[0];
		proof_graphs_follow(&finding->all.graphs, lid);
		for (size_t i = 0; i < finding->first_count; i++) {
			const struct circling_pair *pair =
			    &finding->circling.pairs[finding->firsts[i]];
			uint32_t passing = worker->passing[hd_isl_from(fabric, pair->link)];
			if (passing >> pair->lane & 1 && has(finding, pair->link))
				look_at_link(finding, pair->lane, pair->link, lid);
		}
	}
	return 0;
}

int cutting_find(struct cutting *cutting, const struct hd_ar_plan *plan, bool columns,
		 uint64_t *count)
{
	const struct hd_ar_proof_request proof = proof_of(cutting->request, plan);
	struct finding finding = {.cutting = cutting, .columns = columns};
	int rc = cutting_collect(&finding.all, &proof, true, false);

	if (!rc)
		rc = circling_list(&finding.all, &cutting->known, &finding.circling);
	if (!rc) {
		if (cutting->hosts_loop)
			keep_each(cutting, &finding.circling, is_of_hosts_in_order);
		keep_each(cutting, &finding.circling, is_of_hosts);
		keep_links(cutting, &finding.circling, true);
		keep_links(cutting, &finding.circling, false);
		keep_each(cutting, &finding.circling, is_any);
	}
	if (!rc && finding.circling.count)
		rc = look_at_lids(&finding);
	if (!rc)
		*count = finding.count;
	circling_release(&finding.circling);
	proving_release(&finding.all);
	return rc;
}
