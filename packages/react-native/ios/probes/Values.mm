#import "Values.h"

#include <cmath>

#include "../core/Bounds.h"

namespace drs {

NSNumber *boolean(std::optional<bool> value) { return value ? [NSNumber numberWithBool:*value] : nil; }

NSNumber *number(std::optional<double> value) {
  return value && std::isfinite(*value) ? [NSNumber numberWithDouble:*value] : nil;
}

NSString *text(id value) {
  if (![value isKindOfClass:NSString.class]) return nil;
  NSString *text = value;
  return text.length > 0 && text.length <= bounds::kTextBytes ? text : nil;
}

NSString *text(const std::optional<std::string> &value) {
  return value ? text([NSString stringWithUTF8String:value->c_str()]) : nil;
}

NSArray<NSString *> *texts(const std::vector<std::string> &values) {
  NSMutableArray<NSString *> *list = [NSMutableArray arrayWithCapacity:values.size()];
  for (const auto &value : values) {
    if (NSString *entry = text(value)) [list addObject:entry];
  }
  return list;
}

NSArray<NSNumber *> *numbers(const std::vector<double> &values) {
  NSMutableArray<NSNumber *> *list = [NSMutableArray arrayWithCapacity:values.size()];
  for (const double value : values) [list addObject:[NSNumber numberWithDouble:value]];
  return list;
}

std::string bytesOf(NSString *text) {
  const char *bytes = text.UTF8String;
  return bytes == nullptr ? std::string() : std::string(bytes);
}

}  // namespace drs
