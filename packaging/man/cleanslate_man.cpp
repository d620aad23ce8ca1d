// cleanslate_man DATE: prints cleanslate(1). Built with the program, installed nowhere.

#include <cstdio>

#include "controller/help_texts.hpp"
#include "controller/man_page.hpp"

int main(int argc, char** argv) {
    using namespace cleanslate::controller;
    if (argc != 2) return 2;
    const std::string page = man_page(command_outline(), std::string(program_version()), argv[1]);
    return std::fputs(page.c_str(), stdout) >= 0 && std::fflush(stdout) == 0 ? 0 : 1;
}
