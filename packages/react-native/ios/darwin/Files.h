#pragma once

#include <string>

#include "../core/Existence.h"

/**
 * Examines paths without opening a file, and without the calls for which Apple requires a declared reason (`stat` and
 * similar).
 */
namespace drs::files {

Existence existence(const std::string &path);
Existence writability(const std::string &path);
Existence link(const std::string &path);

/** Whether an environment variable is set. */
Existence environmentVariable(const std::string &name);

}  // namespace drs::files
