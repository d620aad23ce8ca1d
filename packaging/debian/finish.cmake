# Run by cpack on what lies ready for the package: what only a package has, or has in another form.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
set(documentation ${root}/usr/share/doc/cleanslate)

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # $SOURCE_DATE_EPOCH's, where that is set
set(version ${CPACK_PACKAGE_VERSION})
set(maintainer "${CPACK_DEBIAN_PACKAGE_MAINTAINER}")
configure_file(${CPACK_CLEANSLATE_CHANGELOG} ${documentation}/changelog @ONLY)

file(READ ${CPACK_CLEANSLATE_COPYRIGHT} copyright)
if(CPACK_CLEANSLATE_LIBSSH2)
  file(MAKE_DIRECTORY ${root}/usr/share/lintian/overrides)
  file(READ ${CPACK_CLEANSLATE_LIBSSH2}/COPYING notice)
  string(APPEND copyright "\nThe program has libssh2 in it, which comes with these words:\n\n${notice}")
  file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/overrides ${root}/usr/share/lintian/overrides/cleanslate)
endif()
file(WRITE ${documentation}/copyright "${copyright}")

file(GLOB pages ${root}/usr/share/man/*/*)
execute_process(COMMAND gzip -9n ${documentation}/changelog ${pages} COMMAND_ERROR_IS_FATAL ANY)

# The package's files are as old as its last change, whoever builds it and when.
execute_process(COMMAND chmod -R u=rwX,go=rX ${root}/usr COMMAND_ERROR_IS_FATAL ANY)
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND find ${root} -exec touch --no-dereference "--date=@$ENV{SOURCE_DATE_EPOCH}" {} +
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
