# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Writes a bill of materials in SPDX 2.3 as JSON. As a program: cmake -Dsbom_facts=BUILD/sbom_facts.cmake -Dsbom_name=NAME
# -Dsbom_root=FOLDER -Dsbom_output=PATH -P sbom.cmake describes all files in FOLDER. sbom_files may name them, by their
# paths below sbom_root. sbom_output is such a path, too.
# Its date is SOURCE_DATE_EPOCH, or now; all else depends only on the files and the versions of libraries.
cmake_policy(VERSION 3.25)
include(${sbom_facts})
set(project_licence "GPL-2.0-only OR BSD-2-Clause")
set(project_copyright "2026 the Heddle authors")

# sbom_quote(OUT TEXT): TEXT as a string of JSON.
function(sbom_quote out text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

# sbom_append(LIST ELEMENT): appends an element to the text of a list in JSON.
macro(sbom_append list element)
  if(NOT "${${list}}" STREQUAL "")
    string(APPEND ${list} ",\n")
  endif()
  string(APPEND ${list} "${element}")
endmacro()

macro(sbom_relate from kind to)
  sbom_append(relations
    "    {\"spdxElementId\": \"${from}\", \"relationshipType\": \"${kind}\", \"relatedSpdxElement\": \"${to}\"}")
endmacro()

# sbom_component(OUT NAME VERSION LICENCE): another project that this one uses. OUT is its id.
macro(sbom_component out name version licence)
  string(MAKE_C_IDENTIFIER "${name}" id)
  string(REPLACE "_" "-" ${out} "SPDXRef-Package-${id}")
  if(NOT "${name}" IN_LIST components)
    list(APPEND components ${name})
    set(supplied "")
    if(NOT "${version}" STREQUAL "")
      set(supplied ", \"versionInfo\": \"${version}\"")
    endif()
    sbom_append(packages "    {\"SPDXID\": \"${${out}}\", \"name\": \"${name}\"${supplied},
      \"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false, \"copyrightText\": \"NOASSERTION\",
      \"licenseConcluded\": \"NOASSERTION\", \"licenseDeclared\": \"${licence}\"}")
  endif()
endmacro()

# sbom_links(FILE ID): the libraries that an ELF file names as needed, and the program that loads it.
macro(sbom_links file id)
  file(READ "${file}" magic LIMIT 4 HEX)
  if(magic STREQUAL "7f454c46")
    execute_process(COMMAND ${readelf} -d "${file}" OUTPUT_VARIABLE dynamic ERROR_QUIET)
    string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*\\[[^]\n]*\\]" needed "${dynamic}")
    foreach(line IN LISTS needed)
      string(REGEX REPLACE ".*\\[(.*)\\]" "\\1" soname "${line}")
      string(REGEX REPLACE "\\.so.*" "" soname "${soname}")
      if(DEFINED library_${soname})
        list(GET library_${soname} 0 name)
        list(GET library_${soname} 1 version)
        list(GET library_${soname} 2 licence)
      else()
        set(name ${soname})
        set(version "")
        set(licence NOASSERTION)
      endif()
      sbom_component(other "${name}" "${version}" "${licence}")
      sbom_relate(${id} DYNAMIC_LINK ${other})
      list(APPEND used ${other})
    endforeach()
  endif()
  get_filename_component(name "${file}" NAME)
  if(DEFINED host_${name})
    list(GET host_${name} 0 host)
    list(GET host_${name} 1 version)
    list(GET host_${name} 2 licence)
    sbom_component(other "${host}" "${version}" "${licence}")
    sbom_relate(${other} RUNTIME_DEPENDENCY_OF ${id})
  endif()
endmacro()

if(NOT sbom_files)
  file(GLOB_RECURSE sbom_files RELATIVE "${sbom_root}" LIST_DIRECTORIES OFF "${sbom_root}/*")
  list(FILTER sbom_files EXCLUDE REGEX "^DEBIAN/")
  list(TRANSFORM sbom_files PREPEND /)
endif()
list(REMOVE_ITEM sbom_files "${sbom_output}")
list(SORT sbom_files)
list(REMOVE_DUPLICATES sbom_files)

set(files "")
set(packages "")
set(relations "")
set(components)
set(used)
set(sums)
set(number 0)
set(main SPDXRef-Package-${sbom_name})
sbom_relate(SPDXRef-DOCUMENT DESCRIBES ${main})
foreach(path IN LISTS sbom_files)
  if(NOT IS_SYMLINK "${sbom_root}${path}")
    math(EXPR number "${number} + 1")
    set(id SPDXRef-File-${number})
    file(SHA1 "${sbom_root}${path}" sha1)
    file(SHA256 "${sbom_root}${path}" sha256)
    sbom_quote(name ".${path}")
    sbom_append(files "    {\"SPDXID\": \"${id}\", \"fileName\": ${name},
      \"checksums\": [{\"algorithm\": \"SHA1\", \"checksumValue\": \"${sha1}\"},
        {\"algorithm\": \"SHA256\", \"checksumValue\": \"${sha256}\"}],
      \"licenseConcluded\": \"${project_licence}\", \"licenseInfoInFiles\": [\"NOASSERTION\"],
      \"copyrightText\": \"${project_copyright}\"}")
    list(APPEND sums ${sha1})
    sbom_relate(${main} CONTAINS ${id})
    sbom_links("${sbom_root}${path}" ${id})
  endif()
endforeach()
list(REMOVE_DUPLICATES used)
foreach(other IN LISTS used)
  sbom_relate(${main} DEPENDS_ON ${other})
endforeach()

# As the specification says: of the sums of all files, in order, without anything between them.
list(SORT sums)
list(JOIN sums "" sums)
string(SHA1 verification "${sums}")
string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC)
string(UUID unique NAMESPACE 6ba7b811-9dad-11d1-80b4-00c04fd430c8 TYPE SHA1 NAME "${sbom_name} ${heddle_version} ${packages} ${files}")
set(analyzed "    {\"SPDXID\": \"${main}\", \"name\": \"${sbom_name}\", \"versionInfo\": \"${heddle_version}\",
      \"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": true,
      \"packageVerificationCode\": {\"packageVerificationCodeValue\": \"${verification}\"},
      \"licenseConcluded\": \"${project_licence}\", \"licenseDeclared\": \"${project_licence}\",
      \"licenseInfoFromFiles\": [\"NOASSERTION\"], \"copyrightText\": \"${project_copyright}\"}")
if(packages)
  string(APPEND analyzed ",\n")
endif()
file(WRITE "${sbom_root}${sbom_output}" "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"${sbom_name}-${heddle_version}\",
  \"documentNamespace\": \"https://spdx.org/spdxdocs/${sbom_name}-${heddle_version}-${unique}\",
  \"creationInfo\": {\"created\": \"${created}\", \"creators\": [\"Tool: heddle-sbom.cmake-${heddle_version}\"]},
  \"packages\": [
${analyzed}${packages}
  ],
  \"files\": [
${files}
  ],
  \"relationships\": [
${relations}
  ]
}
")
