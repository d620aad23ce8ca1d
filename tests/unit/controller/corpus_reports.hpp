#pragma once
// What the files of tests/corpus are judged as, each as the report of one host.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "agentless/parse_input.hpp"
#include "agentless/remote.hpp"
#include "outcomes.hpp"

namespace cleanslate::controller::testing {

inline std::vector<std::filesystem::path> corpus_files(const std::string& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry :
         std::filesystem::directory_iterator(CLEANSLATE_SOURCE_DIR "/tests/corpus/" + folder))
        if (entry.path().extension() == ".txt") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

inline std::string corpus_text(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline Report report_of_verdict(std::string command, std::string name, HostVerdict verdict) {
    HostOutcome host;
    host.name = std::move(name);
    host.verdict = verdict.verdict;
    host.last = std::move(verdict);
    host.started = host.finished = true;
    return report_of({std::move(host)}, std::move(command));
}

// Outputs of nvidia-smi as `parse` judges them, surveys as `check` does.
inline std::vector<Report> corpus_reports() {
    std::vector<Report> reports;
    for (const char* folder : {"smi", "h200", "optional"})
        for (const auto& file : corpus_files(folder)) {
            ParseOptions options;
            options.any = true;
            reports.push_back(report_of_verdict("parse", "-", judge_output(corpus_text(file), options)));
        }
    for (const auto& file : corpus_files("surveys"))
        if (const auto evidence = read_survey(corpus_text(file), "n"))
            reports.push_back(report_of_verdict("check", file.stem(), judge(*evidence, {})));
    return reports;
}

}  // namespace cleanslate::controller::testing
