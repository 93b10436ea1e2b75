/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "loop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void hd_ar_loop_free(struct hd_ar_loop *loop)
{
	free(loop);
}

const char *hd_ar_loop_text(const struct hd_fabric *fabric, const struct hd_ar_loop *loop,
			    char *buffer, size_t size)
{
	size_t used = 0;
	int length = snprintf(buffer, size, "on VL %u: ", loop->vl);

	for (uint32_t i = 0; i < loop->length && length >= 0; i++) {
		uint32_t link = loop->links[i], sw = hd_isl_from(fabric, link);
		char label[HD_LABEL_SIZE];
		used += (size_t)length;
		if (used >= size)
			return buffer;
		hd_port_label(fabric, hd_port_index(fabric, sw, fabric->isl_port[link]), label,
			      sizeof(label));
		length = snprintf(buffer + used, size - used, "%s%s", i ? " -> " : "", label);
	}
	return buffer;
}

int loop_refuse(const struct hd_fabric *fabric, const struct loop_found *found,
		struct hd_ar_loop **out, struct hd_error *err)
{
	char text[HD_ERROR_TEXT];
	struct hd_ar_loop *loop = malloc(sizeof(*loop) + found->length * sizeof(loop->links[0]));

	if (!loop)
		return hd_error_no_memory(err);
	loop->vl = (uint8_t)found->vl;
	loop->length = found->length;
	for (uint32_t i = 0; i < found->length; i++)
		loop->links[i] = found->links[i];
	hd_error_set(err, -ELOOP, "credit loop of %u links %s", loop->length,
		     hd_ar_loop_text(fabric, loop, text, sizeof(text)));
	if (out)
		*out = loop;
	else
		free(loop);
	return -ELOOP;
}
