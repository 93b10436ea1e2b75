/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All of the room change: from the tables in place to others. This is computation only; the plugin
 * sends what is planned here.
 *
 * An entry is all that a switch has for one LID: the port in its forwarding table and, with adaptive
 * routing (AR), the static port in its AR table and the ports of its group. Switches take new entries
 * at different moments, and lose some. So while tables change, a switch may have the old entry or the
 * new one, and packets meet any mixture. In each mixture must hold:
 *
 *	1. Packets do not go in a circle.
 *	2. No credit loop: on each virtual lane the channel dependencies have no cycle.
 *	3. What arrived before goes on to arrive, if the new tables still have a path.
 *
 * WHO CHANGES TABLES
 *
 *	caller                       what changes                   order of writing    header
 *	opensm/repair                forwarding tables, after a     in steps            repair.h
 *	                             loss
 *	opensm/repair and opensm/ar  the same, while AR is on       in steps            steps.h
 *	opensm/repair                multicast tables, after a      in six steps        repair_mfts.h
 *	                             loss
 *	opensm/sweep                 forwarding tables, in a sweep  in steps            sweep.h
 *	opensm/sweep                 multicast trees, in a sweep    in steps            repair_mfts.h
 *	                             and after a join or leave
 *	opensm/sweep and opensm/ar   the same, while AR is on       in steps            steps.h
 *	opensm/keys                  LIDs above base LIDs           in one step         keys_proof.h
 *	heddle survive               as opensm/repair, of a file
 *
 * HOW MIXTURES ARE MADE SOUND
 *
 * Steps: all writes of a step are acknowledged before the next step begins. An entry changes only after
 * all changed entries that its new ports lead to, near or far. So packets that meet a new entry go on by
 * new and unchanged entries, and arrive. A circle could contain old entries only, which have none. That
 * is 1 and 3. For 2, repairs look for turns from an old entry into a new one that would close a credit
 * loop, and write the new entry after all entries that lead packets there. Steps with AR prove each step
 * by itself. What does not fit is left to the sweep. There, AR goes off before anything changes, and comes back
 * afterwards: static ports are those of forwarding tables, so both are sound in any order.
 *
 * Keys: the dependencies with and without a key have no cycle together, and with the key all arrives that
 * arrived without it. Mixtures of the entries of one LID are not looked at: packets use the LIDs of a key
 * only when all switches have acknowledged it, and what fails is taken back by the caller.
 *
 * WHAT IS SHARED
 *
 *	lane_graphs    the incremental dependency graph of the tables in place. Repairs and keys add to it in
 *	               batches, which are undone if they would close a cycle. It only grows: a new graph
 *	               forgets what no table has any more.
 *	ar_graph       the dependency graph of tables and groups in force. It counts, so that dependencies go, too.
 *	               Steps with AR are ordered and proved by it, at a cost that follows what changes.
 *	mixture        one LID while its entries change: circles, and who can be reached.
 *	               hd_repair_find_loop() checks a plan by it, without trusting its order.
 *	remains        switches and links that a loss has left, for repairs of both kinds of tables.
 *	repair_writes  the blocks of each step, from the steps of entries. The order of a repair gives these,
 *	               or, while AR is on, that of hd_ar_steps_new().
 *
 * Steps where no such graph is possible use the proofs of ar_manager (hd_ar_prove()). These collect a graph for each
 * mixture of two states.
 */
#ifndef HEDDLE_CHANGE_H
#define HEDDLE_CHANGE_H

#include <heddle/change/ar_graph.h>
#include <heddle/change/keys_proof.h>
#include <heddle/change/repair.h>
#include <heddle/change/repair_mfts.h>
#include <heddle/change/steps.h>
#include <heddle/change/sweep.h>

#endif
