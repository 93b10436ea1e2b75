/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "local_tree.h"

#include <errno.h>
#include <heddle/fabric/builder.h>

static int build_bare(const struct hd_fabric *fabric, struct hd_fabric **out)
{
	struct hd_builder *builder = hd_builder_from(fabric);

	if (!builder)
		return -ENOMEM;
	for (uint32_t node = fabric->switch_count; node < fabric->node_count; node++)
		for (uint32_t port = 1;
		     fabric->node_type[node] == HD_ROUTER && port <= hd_node_ports(fabric, node);
		     port++)
			hd_builder_unlink(builder, node, port);
	int rc = hd_builder_build(builder, out, NULL);
	hd_builder_free(builder);
	/* the fabric was valid with the cables */
	return rc ? -ENOMEM : 0;
}

/* Labels the first tree that is regular. */
static int label(struct local_tree *local, const struct hd_fabric *fabric)
{
	const struct hd_tree_facts facts = {NULL, NULL};
	int rc = hd_tree_find(fabric, &facts, 1, &local->arena, &local->levels, NULL);

	while (!rc) {
		rc = hd_regular_tree_label(fabric, &local->levels, &local->arena, &local->tree);
		if (rc <= 0)
			return rc;
		rc = hd_tree_try_next(fabric, &facts, &local->arena, &local->levels, NULL);
	}
	return rc == -ENOMEM ? rc : HD_TREE_IRREGULAR;
}

int local_tree_make(const struct hd_fabric *fabric, struct local_tree *out)
{
	const struct hd_tree_facts facts = {NULL, NULL};

	*out = (struct local_tree){.bare = NULL};
	int rc = build_bare(fabric, &out->bare);
	if (!rc)
		rc = label(out, out->bare);
	if (rc != HD_TREE_IRREGULAR)
		return rc;
	rc = hd_tree_prune(out->bare, &facts, NULL, &out->arena, &out->pruned);
	if (rc)
		return rc == -ENOMEM ? rc : HD_TREE_IRREGULAR;
	return label(out, &out->pruned.fabric);
}

void local_tree_release(struct local_tree *tree)
{
	hd_arena_release(&tree->arena);
	hd_fabric_free(tree->bare);
}
