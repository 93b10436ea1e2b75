/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends the blocks of SETs that go together. */
#ifndef OPENSM_KEYS_SEND_H
#define OPENSM_KEYS_SEND_H

/* Sends the blocks and puts the keys in force, or takes back what was sent; batch->rc: how it has done. Errors: -ECANCELED
 * other tables are in force, or it is to stop; -EIO switches have failed. For the writer's thread. */
void keys_send(void *batch);

#endif
