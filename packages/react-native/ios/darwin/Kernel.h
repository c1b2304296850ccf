#pragma once

#include <cstdint>
#include <optional>
#include <string>

/** Reads of the kernel about this process and this device. Each returns no value when it failed. */
namespace drs::kernel {

/** A text of sysctl, such as `hw.machine`. */
std::optional<std::string> text(const char *name);

/** Whether a debugger is attached to this process (`P_TRACED`). */
std::optional<bool> isTraced();

std::int32_t parentPid();

std::optional<double> residentBytes();

/** Free pages of the whole device (`host_statistics64`). */
std::optional<double> freeBytes();

}  // namespace drs::kernel
