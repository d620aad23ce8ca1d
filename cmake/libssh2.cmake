# The target libssh2: the one that build_libssh2.sh has built where there is one, linked statically, else the system's.
set(CLEANSLATE_LIBSSH2_PREFIX "auto" CACHE STRING
    "Where build_libssh2.sh's libssh2 is; auto: build/libssh2 if it is there; empty: the system's")
set(libssh2_prefix "${CLEANSLATE_LIBSSH2_PREFIX}")
if(libssh2_prefix STREQUAL "auto")
  set(libssh2_prefix "${PROJECT_SOURCE_DIR}/build/libssh2")
  if(NOT EXISTS ${libssh2_prefix}/lib/libssh2.a)
    set(libssh2_prefix "")
  endif()
endif()

if(libssh2_prefix)
  file(STRINGS ${libssh2_prefix}/version libssh2_package)  # of the Debian source package
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${libssh2_prefix}/version)
  add_library(libssh2 STATIC IMPORTED)
  set_target_properties(libssh2 PROPERTIES
    IMPORTED_LOCATION ${libssh2_prefix}/lib/libssh2.a
    INTERFACE_INCLUDE_DIRECTORIES ${libssh2_prefix}/include
    INTERFACE_LINK_LIBRARIES OpenSSL::Crypto
    INTERFACE_COMPILE_DEFINITIONS CLEANSLATE_LIBSSH2_PACKAGE="${libssh2_package}")
  message(STATUS "libssh2: ${libssh2_package} in ${libssh2_prefix}")
else()
  pkg_check_modules(LIBSSH2 REQUIRED IMPORTED_TARGET libssh2)
  add_library(libssh2 INTERFACE IMPORTED)
  target_link_libraries(libssh2 INTERFACE PkgConfig::LIBSSH2)
  message(STATUS "libssh2: the system's ${LIBSSH2_VERSION}")
endif()
