#include <doctest/doctest.h>

#include <stdexcept>

#import "../../../../packages/react-native/ios/probes/Values.h"
#import "Support.h"

namespace {

std::shared_ptr<drs::Token> endless() { return std::make_shared<drs::Token>(std::chrono::hours(1)); }

DRSReading *reading(NSArray<NSString *> *fields, NSDictionary *sources = @{}) {
  return [[DRSReading alloc] initWithRequest:request(fields, sources) token:endless()];
}

}  // namespace

TEST_CASE("only requested values are read") {
  DRSReading *one = reading(@[ @"a" ]);
  __block int reads = 0;
  id (^read)(void) = ^id {
    ++reads;
    return @"x";
  };
  [one field:@"a" read:read];
  [one field:@"b" read:read];
  CHECK(reads == 1);
  CHECK(json(one.answer) == R"({"evidence":{},"fields":{"a":"x"}})");
}

TEST_CASE("a field that throws affects no other, whatever it throws") {
  DRSReading *one = reading(@[ @"a", @"b", @"c" ]);
  [one field:@"a"
        read:^id {
          [NSException raise:@"Fault" format:@"/a/path"];
          return nil;
        }];
  [one field:@"b" read:^id { throw std::runtime_error("fault"); }];
  [one field:@"c" read:^{ return @"x"; }];
  CHECK(json(one.answer[@"fields"]) == R"({"c":"x"})");
  CHECK_FALSE(one.failed);
}

TEST_CASE("a part that throws fails the call") {
  DRSReading *one = reading(@[ @"a" ]);
  [one part:[](DRSReading *) { [NSException raise:@"Fault" format:@"x"]; }];
  CHECK(one.failed);
}

TEST_CASE("reading ends when the token stopped") {
  const auto token = endless();
  DRSReading *one = [[DRSReading alloc] initWithRequest:request(@[ @"a", @"b" ]) token:token];
  __block bool second = false;
  [one field:@"a"
        read:^{
          token->cancel();
          return @"late";
        }];
  [one field:@"b"
        read:^{
          second = true;
          return @"x";
        }];
  CHECK_FALSE(second);
  CHECK(json(one.answer[@"fields"]) == "{}");
}

TEST_CASE("a request of another shape is invalid") {
  for (NSDictionary *wrong in
       @[ @{},
          @{@"fields" : @"a",
            @"sources" : @{}},
          @{@"fields" : @[],
            @"sources" : @[]},
          @{@"fields" : @[]} ]) {
    CHECK(([[DRSReading alloc] initWithRequest:wrong token:endless()] == nil));
  }
}

TEST_CASE("unavailable is the only member, and only if no value was read") {
  DRSReading *one = reading(@[ @"a" ]);
  [one unavailable:DRSUnavailablePermission];
  CHECK(json(one.answer) == R"({"unavailable":"permission"})");
  [one field:@"a" read:^{ return @"x"; }];
  CHECK(json(one.answer[@"fields"]) == R"({"a":"x"})");
}

TEST_CASE("booleans are boxed as booleans, numbers as finite doubles, and texts are not empty") {
  CHECK(json(drs::boolean(true)) == "true");
  CHECK(json(drs::boolean(static_cast<BOOL>(3 > 2))) == "true");
  CHECK(json(drs::boolean(std::nullopt)) == "absent");
  CHECK(json(drs::number(1)) == "1");
  CHECK(std::string([drs::number(1) objCType]) == "d");
  CHECK(json(drs::number(NAN)) == "absent");
  CHECK(json(drs::number(INFINITY)) == "absent");
  CHECK(json(drs::text(@"")) == "absent");
  CHECK(json(drs::text(@1)) == "absent");
  CHECK(json(drs::text(std::optional<std::string>("x"))) == "\"x\"");
}
