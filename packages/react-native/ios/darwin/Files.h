#pragma once

#include <string>

#include "../core/Existence.h"

/** Looks at paths without opening anything, and without the calls that Apple wants a reason for (`stat` and its kin).
 */
namespace drs::files {

Existence existence(const std::string &path);
Existence writability(const std::string &path);
Existence link(const std::string &path);

/** Whether an environment variable is set. */
Existence environmentVariable(const std::string &name);

}  // namespace drs::files
