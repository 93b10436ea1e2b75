# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Copies the static library FROM to TO. Functions and objects that no public header declares, which
# do not begin with hd_, get the prefix hd_internal_, so that a program may have such names itself.
# Debugging symbols are left out.
execute_process(COMMAND ${NM} -g -P --defined-only ${FROM} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[a-z][A-Za-z0-9_]* [TDRB] " names "${symbols}")
list(TRANSFORM names REPLACE "[\n ]*([A-Za-z0-9_]+) [TDRB] $" "\\1")
list(FILTER names EXCLUDE REGEX "^hd_")
list(REMOVE_DUPLICATES names)
list(TRANSFORM names REPLACE "(.+)" "\\1 hd_internal_\\1\n")
list(JOIN names "" names)
file(WRITE ${TO}.names "${names}")
execute_process(COMMAND ${OBJCOPY} --redefine-syms=${TO}.names --strip-debug ${FROM} ${TO} COMMAND_ERROR_IS_FATAL ANY)
