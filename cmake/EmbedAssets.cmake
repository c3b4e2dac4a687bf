# advise_embed_assets(<target> HEADER <header> FUNCTION <name> FILES <name>=<path>...)
#
# Adds to <target> a generated source that defines `std::string_view <FUNCTION>(std::string_view name)`
# in namespace advise, declared in <header>: the text of each file by its name, empty for another name.
function(advise_embed_assets target)
  cmake_parse_arguments(ARG "" "HEADER;FUNCTION" "FILES" ${ARGN})
  set(paths)
  foreach(file IN LISTS ARG_FILES)
    string(REGEX REPLACE "^[^=]*=" "" path ${file})
    list(APPEND paths ${path})
  endforeach()
  list(JOIN ARG_FILES "\n" lines)
  set(list ${PROJECT_BINARY_DIR}/generated/${ARG_FUNCTION}.txt)
  file(CONFIGURE OUTPUT ${list} CONTENT "${lines}\n" @ONLY)
  set(source ${PROJECT_BINARY_DIR}/generated/${ARG_FUNCTION}.cc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/WriteEmbeddedAssets.cmake)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DLIST=${list} -DHEADER=${ARG_HEADER} -DFUNCTION=${ARG_FUNCTION}
            -DOUTPUT=${source} -P ${script}
    DEPENDS ${paths} ${list} ${script}
    COMMENT "Embedding ${ARG_FUNCTION}"
    VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()
