// Ada's own C++ for benchmarks/whatwg.py: parse each line of a file, and write its href, or an empty line.
//
//     whatwg INPUT OUTPUT ROUNDS    prints the nanoseconds of CPU time of each round
#include "ada.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

int main(int, char **arguments) {
    std::ifstream input(arguments[1], std::ios::binary);
    std::stringstream text;
    text << input.rdbuf();
    const std::string data = text.str();
    std::vector<std::string_view> lines;
    for (size_t start = 0; start < data.size();) {
        size_t end = data.find('\n', start);
        lines.emplace_back(data.data() + start, end - start);
        start = end + 1;
    }
    std::string output;
    for (int round = std::atoi(arguments[3]); round > 0; round--) {
        output.clear();
        timespec before, after;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
        for (std::string_view line : lines) {
            auto url = ada::parse<ada::url_aggregator>(line);
            if (url) {
                output += url->get_href();
            }
            output += '\n';
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
        std::printf("%lld\n", (after.tv_sec - before.tv_sec) * 1000000000LL + (after.tv_nsec - before.tv_nsec));
    }
    std::ofstream(arguments[2], std::ios::binary) << output;
}
