/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <heddle/ar_manager/codec.h>
#include <heddle/ar_manager/link.h>
#include <heddle/mad/queue.h>
#include <string.h>

#define LONGEST_WAIT 20 /* ms between two calls of go_on */

struct telling {
	struct hd_smp_queue *queue;
	const struct hd_ar_hosts *hosts;
	uint32_t sl_mask;
	enum hd_ar_host_state *states;
	int rc; /* why it cannot go on */
};

static hd_smp_done on_end;

static void host_masks_submit(struct telling *telling, uint32_t host, const struct hd_smp *smp)
{
	if (hd_smp_queue_submit(telling->queue, host, smp, on_end, telling))
		telling->rc = -ENOMEM;
}

static enum hd_ar_host_state failed_state(const struct hd_smp_result *result)
{
	if (result->rc == -ECANCELED)
		return HD_AR_HOST_UNASKED;
	if (result->rc != -EREMOTEIO)
		return HD_AR_HOST_SILENT;
	return result->smp->method == HD_SMP_SET ? HD_AR_HOST_REFUSED : HD_AR_HOST_WITHOUT;
}

static void take_record(struct telling *telling, const struct hd_smp_result *result)
{
	const bool set = result->smp->method == HD_SMP_SET;
	struct hd_ar_ext_port_info info;

	hd_ar_ext_port_info_decode(result->data, &info);
	if (info.ooo_sl_mask == telling->sl_mask)
		telling->states[result->destination] = set ? HD_AR_HOST_CHANGED : HD_AR_HOST_HELD;
	else if (set)
		telling->states[result->destination] = HD_AR_HOST_REFUSED;
	else {
		/* Changes the mask in the record that the host has answered. */
		struct hd_smp smp = *result->smp;
		smp.method = HD_SMP_SET;
		memcpy(smp.data, result->data, sizeof(smp.data));
		info.ooo_sl_mask = telling->sl_mask;
		hd_ar_ext_port_info_encode(&info, smp.data);
		host_masks_submit(telling, result->destination, &smp);
	}
}

static void on_end(void *cookie, const struct hd_smp_result *result)
{
	struct telling *telling = cookie;

	if (result->rc)
		telling->states[result->destination] = failed_state(result);
	else if (result->smp->attribute == HD_AR_GENERAL_INFO) {
		const struct hd_smp smp = {.method = HD_SMP_GET,
					   .attribute = HD_AR_EXT_PORT_INFO,
					   .modifier = telling->hosts->ports[result->destination]};
		struct hd_ar_capability_mask mask;
		hd_ar_capability_mask_decode(result->data, &mask);
		if (hd_ar_capability_mask_has(&mask, HD_AR_CAN_EXT_PORT_INFO))
			host_masks_submit(telling, result->destination, &smp);
		else
			telling->states[result->destination] = HD_AR_HOST_WITHOUT;
	} else
		take_record(telling, result);
}

int hd_ar_host_masks_set(const struct hd_smp_port *port, const struct hd_smp_limits *limits,
			 const struct hd_ar_hosts *hosts, uint32_t sl_mask,
			 bool (*go_on)(void *context), void *context, enum hd_ar_host_state *states,
			 struct hd_error *err)
{
	struct telling telling = {.hosts = hosts, .sl_mask = sl_mask, .states = states};

	memset(states, 0, hosts->count * sizeof(*states));
	if (!hosts->count)
		return 0;
	telling.queue = hd_smp_queue_new(port, limits, hosts->count);
	if (!telling.queue)
		return hd_error_no_memory(err);
	const struct hd_smp smp = {.method = HD_SMP_GET,
				   .attribute = HD_AR_GENERAL_INFO,
				   .modifier = HD_AR_GENERAL_INFO_CAPABILITIES};
	for (uint32_t host = 0; host < telling.hosts->count && !telling.rc; host++) {
		hd_smp_queue_aim(telling.queue, host, &telling.hosts->addresses[host]);
		host_masks_submit(&telling, host, &smp);
	}
	int rc = telling.rc;
	while (!rc && hd_smp_queue_pending(telling.queue)) {
		rc = hd_smp_queue_work(telling.queue);
		if (!rc)
			rc = telling.rc;
		if (!rc && go_on && !go_on(context))
			rc = -ECANCELED;
		int timeout = hd_smp_queue_timeout(telling.queue);
		if (!rc && hd_smp_queue_pending(telling.queue))
			port->wait(port->context,
				   timeout < 0 || timeout > LONGEST_WAIT ? LONGEST_WAIT : timeout);
	}
	hd_smp_queue_free(telling.queue);
	if (rc == -ENOMEM)
		return hd_error_no_memory(err);
	return rc ? hd_error_set(err, rc, "hosts have not got the SL mask: %s", strerror(-rc)) : 0;
}
