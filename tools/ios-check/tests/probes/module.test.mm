#include <doctest/doctest.h>

#include <thread>

#import "../../../../packages/react-native/ios/DeviceRiskSignals.h"
#import "Support.h"

namespace {

/** How a promise ended. */
struct Promise {
  id resolved = nil;
  std::string rejected;
  NSString *message = nil;
  std::atomic<bool> settled{false};
  std::atomic<int> times{0};
};

std::shared_ptr<Promise> collect(DeviceRiskSignals *module, NSString *call, NSString *probe, NSDictionary *request) {
  const auto promise = std::make_shared<Promise>();
  [module collect:call
      probe:probe
      request:request
      resolve:^(id value) {
        promise->resolved = value;
        ++promise->times;
        promise->settled = true;
      }
      reject:^(NSString *code, NSString *message, NSError *) {
        promise->rejected = code.UTF8String;
        promise->message = message;
        ++promise->times;
        promise->settled = true;
      }];
  return promise;
}

/** Waits up to a second until a promise has ended. @param mainRuns whether blocks of the main thread run meanwhile. */
bool settles(const std::shared_ptr<Promise> &promise, bool mainRuns = true) {
  for (int wait = 0; wait < 500 && !promise->settled; ++wait) {
    if (mainRuns) runMainThread();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return promise->settled;
}

}  // namespace

TEST_CASE("the module is known by its name") {
  CHECK([[DeviceRiskSignals moduleName] isEqualToString:@"DeviceRiskSignals"]);
}

TEST_CASE("a call is answered with what was read on the queue and on the main thread") {
  resetFakes();
  DeviceRiskSignals *module = [[DeviceRiskSignals alloc] init];
  const auto promise = collect(module, @"1", @"device_identity", request(@[ @"systemName", @"brand" ]));
  REQUIRE(settles(promise));
  CHECK(json(promise->resolved) == R"({"evidence":{},"fields":{"brand":"Apple","systemName":"iOS"}})");
  CHECK(promise->times == 1);
}

TEST_CASE("a call that needs no main thread does not wait for it") {
  resetFakes();
  DeviceRiskSignals *module = [[DeviceRiskSignals alloc] init];
  CHECK(settles(collect(module, @"1", @"os_integrity", request(@[ @"isEmulator" ])), false));
}

TEST_CASE("a blocked main thread delays no other call") {
  resetFakes();
  DeviceRiskSignals *module = [[DeviceRiskSignals alloc] init];
  const auto waiting = collect(module, @"1", @"hardware", request(@[ @"screenWidthPx" ]));
  CHECK(settles(collect(module, @"2", @"fonts", request(@[])), false));
  CHECK_FALSE(waiting->settled);
  CHECK(settles(waiting));
}

TEST_CASE("a cancelled call is rejected and stops reading") {
  resetFakes();
  DeviceRiskSignals *module = [[DeviceRiskSignals alloc] init];
  const auto promise = collect(module, @"1", @"hardware", request(@[ @"batteryLevel" ]));
  [module cancel:@"1"];
  REQUIRE(settles(promise));
  CHECK(promise->rejected == "cancelled");
  CHECK((promise->message == nil));
  CHECK(fakeDevice.monitoringChanges == 0);
}

TEST_CASE("a call past its deadline is rejected and stops reading") {
  resetFakes();
  DeviceRiskSignals *module = [[DeviceRiskSignals alloc] init];
  const auto promise = collect(module, @"1", @"device_identity", request(@[ @"brand" ], @{}, 5));
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE(settles(promise));
  CHECK(promise->rejected == "cancelled");
}

TEST_CASE("invalidation ends every call") {
  resetFakes();
  DeviceRiskSignals *module = [[DeviceRiskSignals alloc] init];
  const auto promise = collect(module, @"1", @"hardware", request(@[ @"screenWidthPx" ]));
  [module invalidate];
  REQUIRE(settles(promise));
  CHECK(promise->rejected == "cancelled");
}

TEST_CASE("a request of another shape fails without a message") {
  resetFakes();
  DeviceRiskSignals *module = [[DeviceRiskSignals alloc] init];
  for (NSDictionary *wrong in
       @[ @{},
          @{@"timeoutMs" : @"1",
            @"fields" : @[],
            @"sources" : @{}},
          @{@"timeoutMs" : @1} ]) {
    const auto promise = collect(module, @"1", @"hardware", wrong);
    REQUIRE(settles(promise));
    CHECK(promise->rejected == "failed");
    CHECK((promise->message == nil));
  }
}

TEST_CASE("a probe that iOS does not have is unsupported") {
  resetFakes();
  DeviceRiskSignals *module = [[DeviceRiskSignals alloc] init];
  const auto promise = collect(module, @"1", @"os_integrity_frida_scan", request(@[ @"scanPerformed" ]));
  REQUIRE(settles(promise));
  CHECK(json(promise->resolved) == R"({"unavailable":"unsupported"})");
}

TEST_CASE("many calls at once each get their own answer") {
  resetFakes();
  DeviceRiskSignals *module = [[DeviceRiskSignals alloc] init];
  std::vector<std::shared_ptr<Promise>> promises;
  for (int index = 0; index < 40; ++index) {
    promises.push_back(collect(module, @"same", @"os_integrity", request(@[ @"isEmulator" ])));
  }
  for (const auto &promise : promises) {
    REQUIRE(settles(promise));
    CHECK(json(promise->resolved[@"fields"]) == R"({"isEmulator":false})");
  }
}

TEST_CASE("echo returns the number, and no window runs on iOS") {
  DeviceRiskSignals *module = [[DeviceRiskSignals alloc] init];
  __block id echoed = nil;
  __block id runs = nil;
  [module echo:0.5 resolve:^(id value) { echoed = value; } reject:^(NSString *, NSString *, NSError *){}];
  [module startObservation:^(id value) { runs = value; } reject:^(NSString *, NSString *, NSError *){}];
  [module stopObservation];
  CHECK(json(echoed) == "0.5");
  CHECK(json(runs) == "false");
}

TEST_CASE("a running call does not keep the module alive") {
  resetFakes();
  __weak DeviceRiskSignals *weak = nil;
  @autoreleasepool {
    DeviceRiskSignals *module = [[DeviceRiskSignals alloc] init];
    collect(module, @"1", @"hardware", request(@[ @"screenWidthPx" ]));
    weak = module;
  }
  CHECK((weak == nil));
  runMainThread();
}
