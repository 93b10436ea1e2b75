/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Words in files of service levels, shared by the writer and the reader. */
#ifndef FABRIC_SERVICE_LEVEL_TEXT_H
#define FABRIC_SERVICE_LEVEL_TEXT_H

#define SERVICE_LEVELS 16u
#define SERVICE_VL_NONE 15u /* no lane for data */
#define SERVICE_MAP_HEAD "SL to VL:"
#define SERVICE_SWITCH_HEAD "Service levels at switch guid "

#endif
