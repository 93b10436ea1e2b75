/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_adopt.h"
#include "routing.h"

#include <errno.h>

static const struct routing *origin_of(const struct routing *routing)
{
	return routing->origin ? routing->origin : routing;
}

static int take_tables(const struct routing *published, struct hd_routes **in_place,
		       struct hd_repair_base **base, unsigned threads, const struct hd_go_on *go_on,
		       struct hd_error *err)
{
	struct hd_routes *tables = hd_routes_copy(published->routes);
	struct hd_repair_base *fresh;
	int rc = tables ? hd_repair_base_take(*base, *in_place, tables, go_on, err)
			: hd_error_no_memory(err);

	/* dependencies of keys that have gone are in the way */
	if (rc == -ELOOP) {
		rc = hd_repair_base_new(published->fabric, tables, threads, go_on, &fresh, err);
		if (!rc) {
			hd_repair_base_free(*base);
			*base = fresh;
		}
	}
	if (rc) {
		hd_routes_free(tables);
		return rc;
	}
	hd_routes_free(*in_place);
	*in_place = tables;
	return 0;
}

int repair_adopt(struct routing *published, struct routing **held, struct hd_routes **in_place,
		 struct hd_repair_base **base, unsigned threads, const struct hd_go_on *go_on,
		 struct hd_error *err)
{
	int rc = 0;

	if (published && published == *held) {
		routing_release(published);
		return 0;
	}
	if (!published || origin_of(published) != origin_of(*held))
		rc = hd_error_set(err, -ECANCELED, "other tables are in force");
	else
		rc = take_tables(published, in_place, base, threads, go_on, err);
	if (rc) {
		routing_release(published);
		return rc;
	}
	routing_release(*held);
	*held = published;
	return 0;
}
