# Before files are packed: gives all of them the time SOURCE_DATE_EPOCH, if it is set, so that two builds make the same
# packages.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND find ${CPACK_TEMPORARY_INSTALL_DIRECTORY} -exec touch -h -d @$ENV{SOURCE_DATE_EPOCH} {} +
                          COMMAND_ERROR_IS_FATAL ANY)
endif()
