#import "Published.h"

#include <cmath>
#include <cstdlib>
#include <regex>

namespace published {

namespace {

NSDictionary *schema() {
  static NSDictionary *parsed = nil;
  if (parsed == nil) {
    NSData *file = [NSData dataWithContentsOfFile:[NSString stringWithUTF8String:getenv("EVENT_SCHEMA")]];
    parsed = [NSJSONSerialization JSONObjectWithData:file options:0 error:nullptr];
  }
  return parsed[@"properties"][@"probes"][@"properties"];
}

NSDictionary *dataOf(NSString *probe) {
  NSDictionary *success = schema()[probe][@"oneOf"][0];
  return success[@"properties"][@"data"][@"properties"];
}

bool isWord(NSString *value, NSDictionary *field) {
  NSArray *values = field[@"x-values"][@"ios"];
  if (values != nil && ![values containsObject:value]) return false;
  NSString *pattern = field[@"x-pattern"];
  return pattern == nil || std::regex_search(std::string(value.UTF8String), std::regex(pattern.UTF8String));
}

bool isWithin(double value, NSDictionary *range) {
  if (range[@"min"] != nil && value < [range[@"min"] doubleValue]) return false;
  if (range[@"max"] != nil && value > [range[@"max"] doubleValue]) return false;
  return ![range[@"integer"] boolValue] || std::floor(value) == value;
}

bool fits(id value, NSDictionary *field) {
  if ([value isKindOfClass:NSArray.class]) {
    for (id item in value) {
      if (!fits(item, field)) return false;
    }
    return true;
  }
  if ([value isKindOfClass:NSString.class]) return isWord(value, field);
  return ![field[@"type"] isEqual:@"number"] || isWithin([value doubleValue], field[@"x-range"][@"ios"]);
}

}  // namespace

NSArray<NSString *> *probes() { return schema().allKeys; }

NSArray<NSString *> *fieldsOf(NSString *probe) {
  NSMutableArray<NSString *> *names = [NSMutableArray array];
  NSDictionary *fields = dataOf(probe);
  for (NSString *name in fields) {
    if ([fields[name][@"x-platforms"] containsObject:@"ios"]) [names addObject:name];
  }
  return names;
}

std::set<std::string> vocabulary(NSString *probe, NSString *field) {
  std::set<std::string> values;
  for (NSString *value in dataOf(probe)[field][@"x-values"][@"ios"]) values.insert(value.UTF8String);
  return values;
}

bool isPublished(id value, NSString *probe, NSString *field) { return fits(value, dataOf(probe)[field]); }

}  // namespace published
