/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions that run the commands of `heddle`. argv[0] is the command's name; the result is the
 * exit status. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

int topo_generate(int argc, char **argv);
int topo_show(int argc, char **argv);
int topo_convert(int argc, char **argv);
int topo_diff(int argc, char **argv);
int engines_command(int argc, char **argv);
int route_command(int argc, char **argv);
int check_command(int argc, char **argv);
int certify_command(int argc, char **argv);
int paths_command(int argc, char **argv);
int mcast_command(int argc, char **argv);
int ebb_command(int argc, char **argv);
int compare_command(int argc, char **argv);
int survive_command(int argc, char **argv);
int drain_command(int argc, char **argv);
int reroute_command(int argc, char **argv);
int sim_command(int argc, char **argv);
int reproduce_command(int argc, char **argv);
int ar_plan(int argc, char **argv);
int ar_fairness(int argc, char **argv);
int ar_status(int argc, char **argv);
int ar_probe_command(int argc, char **argv);
int ar_diff(int argc, char **argv);
int map_issr(int argc, char **argv);
int map_isfr(int argc, char **argv);
int map_show(int argc, char **argv);
int map_check(int argc, char **argv);
int map_diff(int argc, char **argv);
int map_walk(int argc, char **argv);
int key_make(int argc, char **argv);
int key_place(int argc, char **argv);
int key_propose(int argc, char **argv);
int key_request(int argc, char **argv);
int key_done(int argc, char **argv);
int key_release(int argc, char **argv);
int key_list(int argc, char **argv);
int key_links(int argc, char **argv);
int why_command(int argc, char **argv);
int doctor_command(int argc, char **argv);
int config_check(int argc, char **argv);
int status_command(int argc, char **argv);
int metrics_command(int argc, char **argv);

#endif
