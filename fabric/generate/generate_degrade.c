/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Degraded fabrics: a share of the inter-switch cables is removed at random. */
#include <heddle/base/random.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/generate.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Lists every cable once, as the link that leaves the switch of lower index. */
static uint32_t list_cables(const struct hd_fabric *fabric, uint32_t *cables)
{
	uint32_t count = 0;

	for (uint32_t link = 0; link < fabric->isl_count; link++)
		if (link < fabric->isl_reverse[link])
			cables[count++] = link;
	return count;
}

static void unlink_some(struct hd_builder *builder, const struct hd_fabric *fabric,
			uint32_t *cables, double percent, uint64_t seed)
{
	uint32_t count = list_cables(fabric, cables);
	uint32_t removed = (uint32_t)lround(count * percent / 100);

	for (uint32_t i = 0; i < removed; i++) {
		uint32_t chosen = i + (uint32_t)hd_random_below(&seed, count - i);
		uint32_t link = cables[chosen];
		cables[chosen] = cables[i];
		uint32_t far = fabric->isl_reverse[link];
		hd_builder_unlink(builder, fabric->isl_to[far], fabric->isl_port[link]);
	}
}

int hd_fabric_remove_links(const struct hd_fabric *fabric, double percent, uint64_t seed,
			   struct hd_fabric **out, struct hd_error *err)
{
	if (!(percent >= 0 && percent <= 100))
		return hd_error_set(
		    err, -EINVAL, "share of links to remove: %g percent, expected 0..100", percent);
	struct hd_builder *builder = hd_builder_from(fabric);
	uint32_t *cables = malloc((fabric->isl_count / 2 + 1) * sizeof(*cables));
	int rc = builder && cables ? 0 : hd_error_no_memory(err);
	if (!rc) {
		unlink_some(builder, fabric, cables, percent, seed);
		rc = hd_builder_build(builder, out, err);
	}
	free(cables);
	hd_builder_free(builder);
	return rc;
}
