# What the RPM packages have besides what heddle_package() sets. Their names, folders and scripts are those of Fedora
# and its relatives; none of these was at hand to test them on.
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_RELEASE 1)
set(CPACK_RPM_PACKAGE_RELEASE_DIST ON)
set(CPACK_RPM_PACKAGE_LICENSE "GPL-2.0-only OR BSD-2-Clause")
set(CPACK_RPM_PACKAGE_RELOCATABLE OFF)
set(CPACK_RPM_PACKAGE_GROUP "System Environment/Base")
set(rpm_version ${PROJECT_VERSION}-${CPACK_RPM_PACKAGE_RELEASE}%{?dist})
# Folders that other packages own.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /etc/default /usr/sbin /usr/libexec
  /usr/lib/systemd /usr/lib/systemd/system /usr/lib/tmpfiles.d /usr/lib/udev /usr/lib/udev/rules.d /usr/lib64/slurm /usr/lib64/pkgconfig /usr/lib/pkgconfig
  /usr/share/licenses /usr/share/man /usr/share/man/man1 /usr/share/man/man5 /usr/share/man/man8
  /usr/share/bash-completion /usr/share/bash-completion/completions)
# CPack has no setting for these.
set(CPACK_RPM_SPEC_MORE_DEFINE "\
%define _build_id_links none
%if \"%{name}\" == \"heddle\"
Recommends: graphviz, gnuplot
%endif
%if \"%{name}\" == \"heddle-opensm\" || \"%{name}\" == \"heddle-slurm\"
Recommends: heddle
%endif")

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} package)
  # Fedora's libraries have no number in their names.
  string(REGEX REPLACE "^(lib.*[^0-9])[0-9]+$" "\\1" name ${CPACK_DEBIAN_${package}_PACKAGE_NAME})
  string(REGEX REPLACE "-dev$" "-devel" name ${name})
  string(REGEX REPLACE "^([^\n]*)\n(.*)$" "\\1;\\2" texts "${CPACK_DEBIAN_${package}_DESCRIPTION}")
  list(POP_FRONT texts CPACK_RPM_${package}_PACKAGE_SUMMARY)
  set(CPACK_RPM_${package}_PACKAGE_DESCRIPTION "${texts}")
  set(CPACK_RPM_${package}_PACKAGE_NAME ${name})
  set(CPACK_RPM_${package}_USER_FILELIST "%license /usr/share/licenses/${name}/LICENSE")
endforeach()

set(scripts ${CMAKE_CURRENT_SOURCE_DIR}/rpm)
if(HEDDLE_OPENSM)
  set(CPACK_RPM_OPENSM_PACKAGE_REQUIRES "opensm = ${OPENSM_VERSION}")
  set(CPACK_RPM_OPENSM_PACKAGE_CONFLICTS "heddle < 0.2.0")
  list(APPEND CPACK_RPM_OPENSM_USER_FILELIST "%config(noreplace) /etc/heddle/heddle.conf")
endif()
if(TARGET heddle-router)
  set(CPACK_RPM_ROUTER_PACKAGE_REQUIRES_PRE shadow-utils)
  set(CPACK_RPM_ROUTER_PRE_INSTALL_SCRIPT_FILE ${scripts}/router_pre)
  set(CPACK_RPM_ROUTER_POST_INSTALL_SCRIPT_FILE ${scripts}/router_post)
  set(CPACK_RPM_ROUTER_PRE_UNINSTALL_SCRIPT_FILE ${scripts}/router_preun)
  set(CPACK_RPM_ROUTER_POST_UNINSTALL_SCRIPT_FILE ${scripts}/router_postun)
endif()
if(TARGET heddle-keyd)
  set(CPACK_RPM_KEYD_PACKAGE_REQUIRES_PRE shadow-utils)
  set(CPACK_RPM_KEYD_PRE_INSTALL_SCRIPT_FILE ${scripts}/keyd_pre)
  set(CPACK_RPM_KEYD_POST_INSTALL_SCRIPT_FILE ${scripts}/reload)
  set(CPACK_RPM_KEYD_PRE_UNINSTALL_SCRIPT_FILE ${scripts}/keyd_preun)
  set(CPACK_RPM_KEYD_POST_UNINSTALL_SCRIPT_FILE ${scripts}/keyd_postun)
  list(APPEND CPACK_RPM_KEYD_USER_FILELIST "%config(noreplace) /etc/default/heddle-keyd")
endif()
if(TARGET heddle_key)
  set(CPACK_RPM_KEY_DEV_PACKAGE_REQUIRES "libheddle-key = ${rpm_version}")
endif()
if(TARGET heddle_mpi)
  set(CPACK_RPM_MPI_PACKAGE_REQUIRES "heddle = ${rpm_version}")
endif()
set(CPACK_RPM_DEV_PACKAGE_REQUIRES zlib-devel)
if(TARGET heddle_spank)
  set(CPACK_RPM_SLURM_PACKAGE_REQUIRES "slurm >= ${slurm_year}.${slurm_month}, slurm < ${slurm_year}.${slurm_next}")
endif()
