# advise_embed_files(<target> FOLDERS <dir>... ENDINGS <ending>...)
#
# Adds to <target> a generated source that holds the files under the folders of the source tree with
# those endings (see engine/knowledge/embedded.h), as embed_files.cc makes them ready to be read. It is made again when a
# file changes; files that come or go are noticed by the next build.
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

  add_executable(advise_embed_files ${PROJECT_SOURCE_DIR}/cmake/embed_files.cc)
  target_link_libraries(advise_embed_files PRIVATE advise_toml PkgConfig::lua nlohmann_json::nlohmann_json advise_fmt)
  set(source ${PROJECT_BINARY_DIR}/generated/embedded_files.cc)
  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/)
  add_custom_command(
    OUTPUT ${source}
    COMMAND advise_embed_files ${PROJECT_SOURCE_DIR} ${list} ${source}
    DEPENDS ${files} ${list} advise_embed_files
    COMMENT "Embedding rules and knowledge"
    VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()
