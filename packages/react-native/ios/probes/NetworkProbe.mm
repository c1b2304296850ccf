#import <Network/Network.h>

#import "../darwin/NetworkInterfaces.h"
#import "Probes.h"
#import "Values.h"

namespace drs {

namespace {

using namespace std::chrono_literals;

/** The system normally answers from memory within a few milliseconds. */
constexpr auto kLongestWait = 1s;

struct Path {
  nw_path_status_t status;
  NSString *type;
};

NSString *typeOf(nw_path_t path) {
  if (nw_path_uses_interface_type(path, nw_interface_type_wifi)) return @"wifi";
  if (nw_path_uses_interface_type(path, nw_interface_type_cellular)) return @"cellular";
  if (nw_path_uses_interface_type(path, nw_interface_type_wired)) return @"ethernet";
  return @"other";
}

/** The current network path. A monitor reports it as soon as it starts. No data is sent. */
std::optional<Path> currentPath(const std::shared_ptr<Token> &token) {
  const auto handover = std::make_shared<Handover<Path>>(token);
  nw_path_monitor_t monitor = nw_path_monitor_create();
  nw_path_monitor_set_queue(monitor, dispatch_get_global_queue(QOS_CLASS_UTILITY, 0));
  nw_path_monitor_set_update_handler(monitor,
                                     ^(nw_path_t path) { handover->give({nw_path_get_status(path), typeOf(path)}); });
  nw_path_monitor_start(monitor);
  const auto path = handover->take(kLongestWait);
  nw_path_monitor_cancel(monitor);
  return path;
}

/** A path that the system would establish on demand is neither connected nor missing. */
std::optional<bool> isConnected(nw_path_status_t status) {
  if (status == nw_path_status_satisfied) return true;
  if (status == nw_path_status_unsatisfied) return false;
  return std::nullopt;
}

void readPath(DRSReading *reading) {
  if (![reading wantsField:@"isConnected"] && ![reading wantsField:@"connectionType"]) return;
  const auto path = currentPath(reading.token);
  if (!path) return;
  const auto connected = isConnected(path->status);
  [reading field:@"isConnected" read:^{ return boolean(connected); }];
  [reading field:@"connectionType" read:^{ return connected.value_or(false) ? path->type : nil; }];
}

}  // namespace

void readNetwork(DRSReading *reading) {
  readPath(reading);
  if (![reading wantsField:@"interfaceNames"] && ![reading wantsField:@"localIpAddresses"]) return;
  const auto interfaces = networkInterfaces();
  if (!interfaces) return;
  [reading field:@"interfaceNames" read:^{ return texts(interfaces->names); }];
  [reading field:@"localIpAddresses" read:^{ return texts(interfaces->addresses); }];
}

}  // namespace drs
