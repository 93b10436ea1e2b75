/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric room: the graph, its readers, generators and writers, the routes and their checker. */
#ifndef HEDDLE_FABRIC_H
#define HEDDLE_FABRIC_H

#include <heddle/base.h>
#include <heddle/fabric/aside.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/certificate.h>
#include <heddle/fabric/changes.h>
#include <heddle/fabric/check.h>
#include <heddle/fabric/compare.h>
#include <heddle/fabric/generate.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/islands.h>
#include <heddle/fabric/machines.h>
#include <heddle/fabric/mfts.h>
#include <heddle/fabric/policy.h>
#include <heddle/fabric/pull.h>
#include <heddle/fabric/read.h>
#include <heddle/fabric/resolve.h>
#include <heddle/fabric/routes.h>
#include <heddle/fabric/walk.h>
#include <heddle/fabric/write.h>

#endif
