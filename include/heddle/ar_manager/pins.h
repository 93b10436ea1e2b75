/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries that are static although a plan would make them adaptive: those of routing keys. A key says by which port
 * a switch sends packets to a LID, so the switch must not choose. All other entries stay as the plan has them.
 */
#ifndef HEDDLE_AR_MANAGER_PINS_H
#define HEDDLE_AR_MANAGER_PINS_H

#include <heddle/ar_manager/plan.h>

/* One entry. */
struct hd_ar_pin {
	uint32_t sw; /* of the fabric */
	uint16_t lid;
};

/* Zero-initialised: none. */
struct hd_ar_pins {
	uint32_t count;
	struct hd_ar_pin
	    *list; /* [count] ascending by switch, then LID, each once; from malloc() */
};

void hd_ar_pins_release(struct hd_ar_pins *pins);

/* Puts a list in order, and keeps one of each. O(count log count). */
void hd_ar_pins_sort(struct hd_ar_pins *pins);

/* An independent copy of the pins without those of `gone`, and with those of `come`. Errors: -ENOMEM. O(pins of all). */
int hd_ar_pins_change(const struct hd_ar_pins *pins, const struct hd_ar_pins *gone,
		      const struct hd_ar_pins *come, struct hd_ar_pins *out);

/* O(log count). */
bool hd_ar_pins_has(const struct hd_ar_pins *pins, uint32_t sw, uint32_t lid);

/*
 * The plan with static entries where the pins are, with the ports of `routes`. Elsewhere the tables must have the static
 * ports of the plan, which is one of the fabric. *out is freed with hd_ar_plan_free(); it holds the plan. Without pins
 * it is the plan itself, held once more. It is not proved. Errors: -ENOTSUP private tables, -EINVAL shapes that differ,
 * both with the reason; -ENOMEM. Cost: O(switches), and O(LIDs) for each switch
 * with pins.
 */
int hd_ar_plan_pinned(struct hd_ar_plan *plan, const struct hd_fabric *fabric,
		      const struct hd_routes *routes, const struct hd_ar_pins *pins,
		      struct hd_ar_plan **out, struct hd_error *err);

/*
 * Such a plan with other pins: only the entries at `places` may be pinned otherwise, or have other ports in `routes`.
 * Those that are pinned no more are again as in the plan without pins. It shares the rows of all other switches with
 * `pinned`. *out is freed with hd_ar_plan_free(). Errors: as above. Cost: O(switches + places log pins), and O(LIDs) for
 * each switch of the places.
 */
int hd_ar_plan_repinned(struct hd_ar_plan *pinned, const struct hd_fabric *fabric,
			const struct hd_routes *routes, const struct hd_ar_pins *pins,
			const struct hd_ar_pins *places, struct hd_ar_plan **out,
			struct hd_error *err);

/* The plan of which hd_ar_plan_pinned() made this one, or the plan itself. It lives as long as this one. */
struct hd_ar_plan *hd_ar_plan_unpinned(struct hd_ar_plan *plan);

/* Adds a holder, who frees the plan too, and returns the plan. For any thread that holds it. */
struct hd_ar_plan *hd_ar_plan_hold(struct hd_ar_plan *plan);

#endif
