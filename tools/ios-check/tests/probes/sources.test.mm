#include <doctest/doctest.h>

#import "Support.h"

namespace {

id evidenceOf(NSString *source, id argument) {
  return answerOf(@"os_integrity", request(@[], @{source : argument}))[@"evidence"][source];
}

}  // namespace

TEST_CASE("paths, links, places to write, environment, classes") {
  resetFakes();
  CHECK(json(evidenceOf(@"paths", @[ @"/etc", @"/nowhere" ])) == R"({"absent":["/nowhere"],"present":["/etc"]})");
  CHECK(json(evidenceOf(@"links", @[ @"/etc" ])) == R"({"absent":["/etc"],"present":[]})");
  CHECK(json(evidenceOf(@"writablePaths", @[ @"/nowhere" ])) == R"({"absent":["/nowhere"],"present":[]})");
  CHECK(json(evidenceOf(@"environment", @[ @"PATH", @"DYLD_X" ])) == R"({"absent":["DYLD_X"],"present":["PATH"]})");
  CHECK(json(evidenceOf(@"classes", @[ @"NSString", @"Shadow" ])) == R"({"absent":["Shadow"],"present":["NSString"]})");
}

TEST_CASE("the folder of the bundle: names in it, and no paths") {
  resetFakes();
  fakeDevice.bundlePath = @"/etc/Example.app";
  CHECK(json(evidenceOf(@"bundleFolder", @[ @"passwd", @"_TrollStore", @"../etc/passwd" ])) ==
        R"({"absent":["_TrollStore"],"present":["passwd"]})");
  fakeDevice.bundlePath = @"";
  CHECK(json(evidenceOf(@"bundleFolder", @[ @"passwd" ])) == R"({"absent":[],"present":[]})");
}

TEST_CASE("an argument that is no list of texts leaves the source out") {
  resetFakes();
  for (id wrong in @[ @YES, @"paths", @{}, @[ @1 ], @[ @"" ] ]) CHECK(json(evidenceOf(@"paths", wrong)) == "absent");
}

TEST_CASE("schemes: only declared ones are queried") {
  resetFakes();
  fakeDevice.information = @{@"LSApplicationQueriesSchemes" : @[ @"Cydia", @"sileo", @7 ]};
  fakeDevice.openable = [NSSet setWithObject:@"cydia"];
  CHECK(json(evidenceOf(@"schemes", @[ @"cydia", @"sileo", @"zbra" ])) ==
        R"({"absent":["sileo"],"present":["cydia"]})");
  CHECK(fakeDevice.schemesAsked == 2);
  fakeDevice.information = nil;
  CHECK(json(evidenceOf(@"schemes", @[ @"cydia" ])) == R"({"absent":[],"present":[]})");
  CHECK(fakeDevice.schemesAsked == 2);
}

TEST_CASE("ports: a value that is no port is unknown") {
  resetFakes();
  CHECK(json(evidenceOf(@"ports", @[ @"1", @"x", @"0" ])) == R"({"absent":["1"],"present":[]})");
}

TEST_CASE("images and the parent") {
  resetFakes();
  CHECK(json(evidenceOf(@"images", @YES)) == R"(["/usr/lib/libSystem.B.dylib"])");
  CHECK(json(evidenceOf(@"parentPid", @YES)) == "1");
}

TEST_CASE("proxies: they are typed, and an automatic configuration is reported by its host only") {
  resetFakes();
  fakeDevice.proxies = @{
    @"HTTPEnable" : @1,
    @"HTTPProxy" : @"proxy.example",
    @"HTTPPort" : @8080,
    @"SOCKSEnable" : @0,
    @"ProxyAutoConfigEnable" : @1,
    @"ProxyAutoConfigURLString" : @"https://user:secret@pac.example/p?token=x",
    @"__SCOPED__" : @{@"utun3" : @{}},
  };
  NSDictionary *proxies = evidenceOf(@"proxies", @YES);
  CHECK(json(proxies[@"httpEnabled"]) == "true");
  CHECK(json(proxies[@"socksEnabled"]) == "false");
  CHECK(json(proxies[@"httpHost"]) == "\"proxy.example\"");
  CHECK(json(proxies[@"httpPort"]) == "8080");
  CHECK(json(proxies[@"socksHost"]) == "absent");
  CHECK(json(proxies[@"pacHost"]) == "\"pac.example\"");
  CHECK(json(proxies[@"scopedInterfaces"]) == R"(["utun3"])");
  fakeDevice.proxies = nil;
  CHECK(json(evidenceOf(@"proxies", @YES)) == "absent");
}

TEST_CASE("numbers: the vector is returned, or no value for a wrong request") {
  resetFakes();
  NSDictionary *numbers = evidenceOf(@"numbers", @{@"seed" : @1, @"count" : @2, @"inputs" : @[ @4 ]});
  CHECK(json(numbers[@"integers"]) == "[1015568748,1586005467]");
  CHECK([numbers[@"floats"] count] == 5);
  CHECK(std::signbit([numbers[@"negativeZero"] doubleValue]));
  CHECK([numbers[@"subnormal"] doubleValue] > 0);
  for (NSDictionary *wrong in @[
         @{@"seed" : @-1,
           @"count" : @2,
           @"inputs" : @[]},
         @{@"seed" : @1,
           @"count" : @1e9,
           @"inputs" : @[]},
         @{@"seed" : @1,
           @"count" : @0.5,
           @"inputs" : @[]},
         @{@"seed" : @1,
           @"count" : @2,
           @"inputs" : @[ @"x" ]}
       ]) {
    CHECK(json(evidenceOf(@"numbers", wrong)) == "absent");
  }
}
