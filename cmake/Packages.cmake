# Packages of the program: cpack in the build folder of the preset `package`.
include(GNUInstallDirs)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Finds the program beside itself, wherever the folder is.
install(
  FILES ${PROJECT_SOURCE_DIR}/packaging/modulefile.lua
  DESTINATION ${CMAKE_INSTALL_DATADIR}/advise/modulefiles/advise
  RENAME ${PROJECT_VERSION}.lua)

# Licenses of what is linked, where Debian's packages say them.
file(STRINGS ${PROJECT_SOURCE_DIR}/packaging/linked.txt linked REGEX "^[^#]")
foreach(package IN LISTS linked)
  string(REGEX REPLACE " .*" "" package "${package}")
  if(EXISTS /usr/share/doc/${package}/copyright)
    install(FILES /usr/share/doc/${package}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/licenses RENAME ${package})
  endif()
endforeach()

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME advise)
set(CPACK_PACKAGE_VENDOR "the authors of advise")
set(CPACK_PACKAGE_CONTACT "the authors of advise <advise@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Reads traces of GPU programs and says what to fix first")
set(CPACK_PACKAGE_DESCRIPTION
    "advise reads traces of Nsight Systems, Nsight Compute and PyTorch's profiler, and prints a list of fixes, the
largest gain first: what was measured, why it costs time, what to change, and how to check it.")
set(CPACK_PACKAGE_FILE_NAME advise-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS sqlite3) # findings show how to check them by hand
if(NOT ADVISE_STATIC STREQUAL "ALL")
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/SameTimes.cmake)
include(CPack)
