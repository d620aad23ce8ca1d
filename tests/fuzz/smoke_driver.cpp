// Runs a libFuzzer harness without libFuzzer: every seed of a folder, then COUNT mutations of seeds from a
// fixed random sequence. Usage: NAME_fuzz FOLDER COUNT. A harness that finds a fault aborts.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::string> read_seeds(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<std::string> seeds;
    for (const auto& file : files) {
        std::ifstream in(file, std::ios::binary);
        seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    return seeds;
}

class Mutator {
  public:
    explicit Mutator(const std::vector<std::string>& seeds) : seeds_(seeds) {}

    std::string next() {
        std::string text = any_seed();
        for (auto rounds = below(6) + 1; rounds > 0; --rounds) mutate(text);
        return text;
    }

  private:
    std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
    const std::string& any_seed() { return seeds_[below(seeds_.size())]; }

    void mutate(std::string& text) {
        const auto at = below(text.size() + 1);
        const auto length = below(std::min<std::size_t>(text.size() - at, 40) + 1);
        const auto& other = any_seed();
        const auto from = below(other.size());
        switch (below(6)) {
            case 0:
                text.insert(at, 1, static_cast<char>(below(256)));
                break;
            case 1:
                text.erase(at, length);
                break;
            case 2:
                text.insert(at, text.substr(at, length));
                break;
            case 3:
                text.insert(at, other.substr(from, below(60)));
                break;
            case 4:
                text.resize(at);
                break;
            default:
                if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        }
    }

    const std::vector<std::string>& seeds_;
    std::mt19937_64 random_{20261129};
};

int run(const std::string& text) {
    return LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s FOLDER COUNT\n", argv[0]);
        return 2;
    }
    const auto seeds = read_seeds(argv[1]);
    if (seeds.empty()) {
        std::fprintf(stderr, "%s: no seeds in %s\n", argv[0], argv[1]);
        return 1;
    }
    for (const auto& seed : seeds) run(seed);
    Mutator mutator(seeds);
    const long count = std::strtol(argv[2], nullptr, 10);
    for (long i = 0; i < count; ++i) run(mutator.next());
    std::printf("%zu seeds and %ld mutations without a finding\n", seeds.size(), count);
    return 0;
}
