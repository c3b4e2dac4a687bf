# Libraries that become part of the program, so that it is one file to copy. Included before the packages are looked for.
# Sets ADVISE_ONE_FILE: whether all of them are there as archives. Debian has no archives of simdjson and ISA-L;
# scripts/static-libraries.sh makes them from Debian's sources, in build/static.
set(ADVISE_STATIC AUTO CACHE STRING
    "Link libraries as archives: AUTO where there are any, ON all but the C library, ALL the C library, too, OFF none")
set_property(CACHE ADVISE_STATIC PROPERTY STRINGS AUTO ON ALL OFF)

set(ADVISE_ONE_FILE NO)
if(ADVISE_STATIC)
  set(ADVISE_ONE_FILE YES)
endif()

# advise_archive(name file): sets ADVISE_ARCHIVE_<name> to the archive's path, or to nothing.
macro(advise_archive name file)
  if(ADVISE_STATIC)
    find_library(ADVISE_ARCHIVE_${name} ${file} HINTS ${PROJECT_SOURCE_DIR}/build/static)
    if(NOT ADVISE_ARCHIVE_${name})
      if(NOT ADVISE_STATIC STREQUAL "AUTO")
        message(FATAL_ERROR "${file} is missing: run scripts/static-libraries.sh, or configure with ADVISE_STATIC=OFF")
      endif()
      set(ADVISE_ONE_FILE NO)
    endif()
  else()
    set(ADVISE_ARCHIVE_${name} "")
  endif()
endmacro()

advise_archive(lua liblua5.4-c++.a)
advise_archive(sqlite libsqlite3.a)
advise_archive(zstd libzstd.a)
advise_archive(zlib libz.a)
advise_archive(protobuf libprotobuf-lite.a)
advise_archive(simdjson libsimdjson.a)
advise_archive(isal libisal.a)
if(ADVISE_ARCHIVE_simdjson)
  add_library(simdjson::simdjson STATIC IMPORTED)
  set_target_properties(
    simdjson::simdjson PROPERTIES IMPORTED_LOCATION ${ADVISE_ARCHIVE_simdjson}
                                  INTERFACE_COMPILE_DEFINITIONS SIMDJSON_THREADS_ENABLED=1)
else()
  find_package(simdjson REQUIRED)
endif()

# The targets of the other packages link their archives. Called when they are known; no room has to know.
function(advise_use_archives)
  foreach(pair SQLite::SQLite3=sqlite ZLIB::ZLIB=zlib protobuf::libprotobuf-lite=protobuf)
    string(REPLACE "=" ";" pair ${pair})
    list(GET pair 0 target)
    list(GET pair 1 name)
    if(ADVISE_ARCHIVE_${name} AND TARGET ${target})
      set_target_properties(
        ${target} PROPERTIES IMPORTED_LOCATION ${ADVISE_ARCHIVE_${name}}
                             IMPORTED_LOCATION_RELEASE ${ADVISE_ARCHIVE_${name}}
                             INTERFACE_LINK_LIBRARIES "m;${CMAKE_DL_LIBS};Threads::Threads")
    endif()
  endforeach()
  foreach(name lua zstd isal)
    if(ADVISE_ARCHIVE_${name})
      set_property(TARGET PkgConfig::${name} PROPERTY INTERFACE_LINK_LIBRARIES
                                                      "${ADVISE_ARCHIVE_${name}};m;${CMAKE_DL_LIBS}")
    endif()
  endforeach()
endfunction()
