/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A shared object that is not a module. */
int stranger_number(void);

int stranger_number(void)
{
	return 1;
}
