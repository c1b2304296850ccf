#pragma once

#include <cstdint>
#include <optional>
#include <string>

/** Facts that the kernel reports about this process and this device. A read that fails returns no value. */
namespace drs::kernel {

/** A sysctl value that is a text, such as `hw.machine`. */
std::optional<std::string> text(const char *name);

/** Whether a debugger is attached to this process (`P_TRACED`). */
std::optional<bool> isTraced();

std::int32_t parentPid();

std::optional<double> residentBytes();

/** Free memory of the whole device, from the number of free pages (`host_statistics64`). */
std::optional<double> freeBytes();

}  // namespace drs::kernel
