# The .deb: `cpack -G DEB`, or `./dev package`. No script of its own runs when it is installed or removed.
# Nobody's address: a site that gives the package on puts its own here.
set(CLEANSLATE_MAINTAINER "cleanslate maintainers <maintainers@cleanslate.invalid>" CACHE STRING
    "Who stands as the maintainer of the Debian package: NAME <ADDRESS>")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME cleanslate)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/finish.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${CLEANSLATE_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# cleanslate-mail sends by either; jobs and hosts are asked for where these are there.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "default-mta | mail-transport-agent, ansible-core, slurm-client")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "clear GPU hosts over SSH and prove that they are clear
cleanslate looks at GPU hosts over plain SSH, ends exactly what holds their
GPUs, looks again after they had time to settle, and reports each host and GPU
with an exit status that a job can trust. What it has not seen it never calls
clean. Nothing is installed on the hosts.

It reads Ansible's YAML inventories, and keeps every sweep in a history that
tells what has changed. Units for a nightly sweep with a mail in the morning
are included; installing the package enables none of them.")

# Read by finish.cmake.
set(CPACK_CLEANSLATE_CHANGELOG ${CMAKE_CURRENT_LIST_DIR}/changelog)
set(CPACK_CLEANSLATE_COPYRIGHT ${CMAKE_CURRENT_LIST_DIR}/copyright)
set(CPACK_CLEANSLATE_LIBSSH2 ${libssh2_prefix})
include(CPack)
