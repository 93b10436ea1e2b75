/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/go_on.h>

#include <errno.h>

int hd_go_on_stopped(struct hd_error *err)
{
	return hd_error_set(err, -ECANCELED, "the result is not wanted any more");
}

int hd_go_on_explain(int rc, struct hd_error *err)
{
	return rc == -ECANCELED ? hd_go_on_stopped(err) : rc ? hd_error_no_memory(err) : 0;
}

int hd_go_on_check(const struct hd_go_on *go_on, struct hd_error *err)
{
	return hd_go_on_ask(go_on) ? 0 : hd_go_on_stopped(err);
}
