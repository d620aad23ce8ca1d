#pragma once
// What a report can be written as and where, and the lists of hosts for the next tool: how both are asked for
// on the command line.

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cleanslate::controller {

enum class Format { text, json, jsonl, csv, junit, prom, html };
std::string_view to_string(Format format);

// "json": on stdout; "html=fleet.html": into a file.
struct FormatRequest {
    Format format = Format::text;
    std::string file = "-";  // -: stdout
    bool to_stdout() const { return file == "-"; }
};
// Errors of kind "usage": no such form, an empty file.
Result<FormatRequest> read_format_request(std::string_view text);

enum class ListForm { plain, folded, slurm, mpi, ansible };
std::string_view to_string(ListForm form);

// "clean.txt": one name a line; "slurm=idle.txt": in the form that goes in front. A file whose name begins
// like that is given as ./slurm=...
struct ListRequest {
    ListForm form = ListForm::plain;
    std::string file;  // -: stdout
    bool to_stdout() const { return file == "-"; }
};
Result<ListRequest> read_list_request(std::string_view text);

}  // namespace cleanslate::controller
