#pragma once

#include <string>
#include <string_view>

namespace drs {

/** SHA-256 in lower-case hexadecimal. */
std::string sha256(std::string_view bytes);

}  // namespace drs
