/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays that grow while elements are added. */
#ifndef HEDDLE_BASE_GROW_H
#define HEDDLE_BASE_GROW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes room for `more` (> 0) elements behind the first `count` of an array from malloc(), or NULL.
 * Each element has `size` bytes, and *room is how many fit into the array. Returns the array, which
 * may have moved: as it was if there is room already, else with at least twice the room. NULL: no
 * memory, or more than UINT32_MAX elements; then the array and *room stay as they were. Expected
 * cost: O(1) for each element that is added.
 *
 *	struct row *rows = hd_grow(job->rows, job->count, 1, &job->room, sizeof(*rows));
 *
 *	if (!rows)
 *		return hd_error_no_memory(err);
 *	job->rows = rows;
 *	job->rows[job->count++] = row;
 */
void *hd_grow(void *array, uint32_t count, uint32_t more, uint32_t *room, size_t size);

#ifdef __cplusplus
}
#endif

#endif
