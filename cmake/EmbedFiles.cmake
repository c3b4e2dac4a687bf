# advise_embed_files(<target> TOOL <tool> FILES <glob>... LIBRARIES <library>...)
#
# Adds to <target> a generated source that holds the files of the source tree that the globs match, as cmake/<tool>.cc makes
# them ready for the program: it is linked with the libraries, ordinarily the room itself, and reads and checks what the
# program then need not. The source is made again when a file changes; files that come or go are noticed by the next build.
function(advise_embed_files target)
  cmake_parse_arguments(ARG "" "TOOL" "FILES;LIBRARIES" ${ARGN})
  list(TRANSFORM ARG_FILES PREPEND ${PROJECT_SOURCE_DIR}/)
  file(GLOB_RECURSE files RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${ARG_FILES})
  list(FILTER files EXCLUDE REGEX "[.]d[.]lua$") # for editors only
  list(SORT files)

  # The list is a file of its own: when a file goes away, nothing else would make the source again.
  set(list ${PROJECT_BINARY_DIR}/generated/${ARG_TOOL}.txt)
  list(JOIN files "\n" lines)
  file(CONFIGURE OUTPUT ${list} CONTENT "${lines}\n" @ONLY)

  set(tool advise_${ARG_TOOL})
  add_executable(${tool} ${PROJECT_SOURCE_DIR}/cmake/${ARG_TOOL}.cc)
  target_link_libraries(${tool} PRIVATE ${ARG_LIBRARIES} advise_fmt)
  set(source ${PROJECT_BINARY_DIR}/generated/${ARG_TOOL}.cc)
  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/)
  # A tool that was linked again mostly writes the same: then nothing is compiled again.
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${tool} ${PROJECT_SOURCE_DIR} ${list} ${source}.new
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${source}.new ${source}
    COMMAND ${CMAKE_COMMAND} -E rm ${source}.new
    DEPENDS ${files} ${list} ${tool}
    COMMENT "Embedding: ${ARG_TOOL}"
    VERBATIM)
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
