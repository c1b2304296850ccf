#pragma once

#include <optional>

#include "../core/Addresses.h"

namespace drs {

/** The interfaces of this device (`getifaddrs`). */
std::optional<Interfaces> networkInterfaces();

}  // namespace drs
