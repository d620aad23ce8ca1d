# Compiler and linker options that hold for the whole project.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wconversion -Wno-sign-conversion
                    -Werror=return-type -Werror=unused-result)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)  # false alarms for std::string + char (gcc bug 105651)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_definitions(BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION)

if(CLEANSLATE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -g1 -O1)
  add_link_options(-fsanitize=address,undefined)
elseif(CLEANSLATE_SANITIZE STREQUAL "thread")
  set(CMAKE_CXX_FLAGS_DEBUG "-O0")
  add_compile_options(-fsanitize=thread -g1 -Wno-tsan)  # fences, which Asio has, are not seen: locks are
  add_link_options(-fsanitize=thread)
elseif(CLEANSLATE_SANITIZE)
  set(CMAKE_CXX_FLAGS_DEBUG "-O0")  # -O1 takes more than twice the time to compile
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")  # it needs optimisation
  add_compile_options(-D_FORTIFY_SOURCE=2 -fstack-protector-strong)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(LLD NAMES ld.lld lld)
find_program(GOLD NAMES ld.gold)
if(LLD AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_link_options(-fuse-ld=lld)
elseif(GOLD)
  add_link_options(-fuse-ld=gold)
endif()
