#pragma once

#include <cstddef>

/** Upper bounds of reads. Bounds that the interface page does not define are defined here. */
namespace drs::bounds {

constexpr std::size_t kImages = 4096;
/** Entries of one list of a request: names, paths, ports, fields. */
constexpr std::size_t kRequested = 4096;
constexpr std::size_t kTextBytes = 4096;
constexpr std::size_t kNetworkInterfaces = 256;
constexpr std::size_t kIntegers = 8192;
constexpr std::size_t kFloatInputs = 1024;

}  // namespace drs::bounds
