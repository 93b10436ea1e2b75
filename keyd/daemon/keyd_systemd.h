/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What systemd and heddle-keyd say to each other: readiness, and sockets that are open already. */
#ifndef KEYD_SYSTEMD_H
#define KEYD_SYSTEMD_H

/* Sends a state such as "READY=1" to the socket in NOTIFY_SOCKET. Does nothing without one. */
void keyd_systemd_notify(const char *state);

/* Number of sockets that this process was given, from descriptor KEYD_SYSTEMD_FIRST on (LISTEN_FDS).
 * Clears the environment variables. */
#define KEYD_SYSTEMD_FIRST 3
int keyd_systemd_sockets(void);

#endif
