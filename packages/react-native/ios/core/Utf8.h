#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace drs {

/**
 * Converts any bytes to UTF-8. Each maximal part of an ill-formed sequence becomes U+FFFD (Unicode, D93b).
 *
 * @param limit the number of bytes that are read; the rest is cut off.
 */
std::string toUtf8(std::string_view bytes, std::size_t limit);

}  // namespace drs
