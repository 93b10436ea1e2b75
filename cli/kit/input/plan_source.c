/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "plan_source.h"
#include "arguments.h"

#include <heddle/ar_manager/plan_files.h>
#include <heddle/ar_manager/proof.h>
#include <heddle/base/gzip.h>

int plan_source_read(const char *path, const struct hd_fabric *fabric, struct hd_ar_plan **out,
		     struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_gzip_open(arguments_path(path), &text, err);

	if (rc)
		return rc;
	rc = hd_ar_read_far(&text, fabric, out, err);
	hd_text_close(&text);
	return rc;
}

int plan_source_read_proved(const char *path, const struct hd_fabric *fabric,
			    const struct hd_routes *routes, unsigned threads,
			    struct hd_ar_plan **out, struct hd_error *err)
{
	struct hd_ar_plan *plan = NULL;
	int rc = plan_source_read(path, fabric, &plan, err);

	if (rc)
		return rc;
	const struct hd_ar_proof_request request = {
	    .fabric = fabric, .routes = routes, .plan = plan, .threads = threads};
	rc = hd_ar_plan_verify(&request, err);
	if (rc) {
		hd_ar_plan_free(plan);
		return hd_error_prefix(err, rc, "plan %s", path);
	}
	*out = plan;
	return 0;
}
