# advise_embed_files(<target> FOLDERS <dir>... ENDINGS <ending>...)
#
# Adds to <target> a generated source that holds the files under the folders of the source tree with
# those endings (see engine/knowledge/embedded.h). It is made again when a file changes; files that
# come or go are noticed by the next build.
function(advise_embed_files target)
  cmake_parse_arguments(ARG "" "" "FOLDERS;ENDINGS" ${ARGN})
  set(globs)
  foreach(folder IN LISTS ARG_FOLDERS)
    foreach(ending IN LISTS ARG_ENDINGS)
      list(APPEND globs ${PROJECT_SOURCE_DIR}/${folder}/*.${ending})
    endforeach()
  endforeach()
  file(GLOB_RECURSE files RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${globs})
  list(FILTER files EXCLUDE REGEX "[.]d[.]lua$") # for editors only
  list(SORT files)

  # The list is a file of its own: when a file goes away, nothing else would make the source again.
  set(list ${PROJECT_BINARY_DIR}/generated/embedded_files.txt)
  list(JOIN files "\n" lines)
  file(CONFIGURE OUTPUT ${list} CONTENT "${lines}\n" @ONLY)

  set(source ${PROJECT_BINARY_DIR}/generated/embedded_files.cc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/WriteEmbeddedFiles.cmake)
  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DLIST=${list} -DOUTPUT=${source} -P ${script}
    DEPENDS ${files} ${list} ${script}
    COMMENT "Embedding rules and knowledge"
    VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()
