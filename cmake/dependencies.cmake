# Every third-party library, found once. Each has one door in the sources: yaml-cpp in base/, libssh2,
# OpenSSL and Botan in agentless/ssh/, CLI11 and nlohmann-json in controller/, SQLite and zstd in
# controller/history/, RE2 in inventory/.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(SQLite3 REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
find_package(Boost 1.81 REQUIRED)
include(${CMAKE_CURRENT_LIST_DIR}/libssh2.cmake)
pkg_search_module(BOTAN REQUIRED IMPORTED_TARGET botan-3 botan-2)
if(CLEANSLATE_TESTS)
  find_package(GTest REQUIRED)
endif()
# Debian 12's yaml-cpp 0.7 names its target without a namespace.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
