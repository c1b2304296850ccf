#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace drs {

/**
 * Text as UTF-8 for any bytes: each maximal part of an ill-formed sequence becomes U+FFFD (Unicode, D93b).
 *
 * @param limit bytes that are looked at; the rest is cut off.
 */
std::string toUtf8(std::string_view bytes, std::size_t limit);

}  // namespace drs
