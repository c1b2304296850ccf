#pragma once

#include <cstddef>

/** Upper bounds of reads. `docs/native-interface.md` defines the bound of images; the others are defined only here. */
namespace drs::bounds {

constexpr std::size_t kImages = 4096;
/** Maximum number of entries in one list of a request: names, paths, ports or fields. */
constexpr std::size_t kRequested = 4096;
constexpr std::size_t kTextBytes = 4096;
constexpr std::size_t kNetworkInterfaces = 256;
constexpr std::size_t kIntegers = 8192;
constexpr std::size_t kFloatInputs = 1024;

}  // namespace drs::bounds
