# Compiler and linker options that hold for the whole project.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wconversion -Wno-sign-conversion
                    -Werror=return-type -Werror=unused-result)
add_compile_definitions(BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION)

if(CLEANSLATE_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
else()
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
