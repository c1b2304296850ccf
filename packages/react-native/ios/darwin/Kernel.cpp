#include "Kernel.h"

#include <mach/mach.h>
#include <sys/proc.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include "../core/Bounds.h"
#include "../core/Utf8.h"

namespace drs::kernel {

std::optional<std::string> text(const char *name) {
  char bytes[bounds::kTextBytes];
  std::size_t size = sizeof bytes;
  if (sysctlbyname(name, bytes, &size, nullptr, 0) != 0) return std::nullopt;
  const std::string_view read(bytes, size);
  return toUtf8(read.substr(0, read.find('\0')), sizeof bytes);
}

std::optional<bool> isTraced() {
  int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, getpid()};
  kinfo_proc process{};
  std::size_t size = sizeof process;
  if (sysctl(name, 4, &process, &size, nullptr, 0) != 0 || size != sizeof process) return std::nullopt;
  return (process.kp_proc.p_flag & P_TRACED) != 0;
}

std::int32_t parentPid() { return getppid(); }

std::optional<double> residentBytes() {
  mach_task_basic_info info{};
  mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
  const auto read = reinterpret_cast<task_info_t>(&info);
  if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, read, &count) != KERN_SUCCESS) return std::nullopt;
  return static_cast<double>(info.resident_size);
}

std::optional<double> freeBytes() {
  const mach_port_t host = mach_host_self();
  vm_statistics64 pages{};
  mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
  vm_size_t pageBytes = 0;
  const bool read =
      host_statistics64(host, HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&pages), &count) == KERN_SUCCESS &&
      host_page_size(host, &pageBytes) == KERN_SUCCESS;
  mach_port_deallocate(mach_task_self(), host);
  if (!read) return std::nullopt;
  return static_cast<double>(pages.free_count) * static_cast<double>(pageBytes);
}

}  // namespace drs::kernel
