# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# cpack runs this on the files of all packages, before it packs them: it adds the changelogs that
# Debian wants, puts the licence where Fedora has it, and compresses changelogs and man pages.
file(GLOB documents LIST_DIRECTORIES ON ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*)
if(CPACK_GENERATOR STREQUAL DEB)
  file(STRINGS ${CPACK_HEDDLE_SOURCE_DIR}/CHANGELOG.md versions REGEX "^## \\[[0-9]")
  foreach(folder ${documents})
    get_filename_component(package ${folder} NAME)
    file(COPY_FILE ${CPACK_HEDDLE_SOURCE_DIR}/CHANGELOG.md ${folder}/changelog)
    file(REMOVE ${folder}/changelog.Debian)
    foreach(version ${versions})
      string(REGEX MATCH "([0-9.]+)\\] - ([0-9-]+)$" version "${version}")
      execute_process(COMMAND env LC_ALL=C date -u -R -d ${CMAKE_MATCH_2} OUTPUT_VARIABLE date
        OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
      file(APPEND ${folder}/changelog.Debian
        "${package} (${CMAKE_MATCH_1}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
        "  * The changes are in changelog.gz.\n\n"
        " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n\n")
    endforeach()
  endforeach()
else()
  foreach(folder ${documents})
    # the name of the package, as in rpm.cmake
    get_filename_component(name ${folder} NAME)
    string(REGEX REPLACE "^(lib.*[^0-9])[0-9]+$" "\\1" name ${name})
    string(REGEX REPLACE "-dev$" "-devel" name ${name})
    string(REGEX REPLACE "doc/[^/]*$" "licenses/${name}" licences ${folder})
    file(MAKE_DIRECTORY ${licences})
    file(RENAME ${folder}/copyright ${licences}/LICENSE)
    file(GLOB others ${folder}/*)
    if(NOT others)
      file(REMOVE_RECURSE ${folder})
    endif()
  endforeach()
endif()
file(GLOB plain ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man*/*[0-9]
  ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/changelog ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/changelog.Debian)
execute_process(COMMAND gzip -9nf ${plain} COMMAND_ERROR_IS_FATAL ANY)
