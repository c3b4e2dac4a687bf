# Links packages as static libraries where the system has them, so that the program is one file to
# copy. Works on the imported targets, so that no other room has to know.

find_library(ADVISE_STATIC_LUA liblua5.4-c++.a)
if(ADVISE_STATIC_LUA AND TARGET PkgConfig::lua)
  set_property(TARGET PkgConfig::lua PROPERTY INTERFACE_LINK_LIBRARIES "${ADVISE_STATIC_LUA};m;dl")
endif()

find_library(ADVISE_STATIC_SQLITE libsqlite3.a)
if(ADVISE_STATIC_SQLITE AND TARGET SQLite::SQLite3)
  set_property(TARGET SQLite::SQLite3 PROPERTY IMPORTED_LOCATION ${ADVISE_STATIC_SQLITE})
  set_property(TARGET SQLite::SQLite3 PROPERTY INTERFACE_LINK_LIBRARIES "m;dl;Threads::Threads")
endif()

find_library(ADVISE_STATIC_ZSTD libzstd.a)
if(ADVISE_STATIC_ZSTD AND TARGET PkgConfig::zstd)
  set_property(TARGET PkgConfig::zstd PROPERTY INTERFACE_LINK_LIBRARIES "${ADVISE_STATIC_ZSTD}")
endif()

find_library(ADVISE_STATIC_PROTOBUF libprotobuf-lite.a)
if(ADVISE_STATIC_PROTOBUF AND TARGET protobuf::libprotobuf-lite)
  set_property(TARGET protobuf::libprotobuf-lite PROPERTY IMPORTED_LOCATION ${ADVISE_STATIC_PROTOBUF})
  set_property(TARGET protobuf::libprotobuf-lite PROPERTY INTERFACE_LINK_LIBRARIES "Threads::Threads")
endif()
