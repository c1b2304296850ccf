#import "Support.h"

NSDictionary *request(NSArray<NSString *> *fields, NSDictionary *sources, double timeoutMs) {
  return @{@"fields" : fields, @"sources" : sources, @"timeoutMs" : [NSNumber numberWithDouble:timeoutMs]};
}

NSDictionary *answerOf(NSString *name, NSDictionary *request) {
  const double milliseconds = [request[@"timeoutMs"] doubleValue];
  const auto token = std::make_shared<drs::Token>(std::chrono::milliseconds(static_cast<long>(milliseconds)));
  DRSReading *reading = [[DRSReading alloc] initWithRequest:request token:token];
  const drs::Probe probe = drs::findProbe(name);
  if (probe.onMain != nullptr) [reading part:probe.onMain];
  [reading part:drs::gatherOnMain];
  if (probe.onQueue != nullptr) [reading part:probe.onQueue];
  [reading part:drs::gather];
  return reading.answer;
}

NSDictionary *fieldsOf(NSString *probe, NSArray<NSString *> *names) {
  return answerOf(probe, request(names))[@"fields"];
}

void resetFakes() {
  fakeDevice = {};
  fakeSystem = {};
}

namespace {

std::string scalar(id value) {
  NSData *data = [NSJSONSerialization dataWithJSONObject:@[ value ] options:0 error:nullptr];
  const std::string text(static_cast<const char *>(data.bytes), data.length);
  return text.substr(1, text.size() - 2);
}

std::string joined(NSArray *parts, std::string (^toText)(id)) {
  std::string text;
  for (id part in parts) text += (text.empty() ? "" : ",") + toText(part);
  return text;
}

}  // namespace

std::string json(id value) {
  if (value == nil) return "absent";
  if ([value isKindOfClass:[NSArray class]]) {
    return "[" + joined(value, ^(id item) { return json(item); }) + "]";
  }
  if (![value isKindOfClass:[NSDictionary class]]) return scalar(value);
  NSArray *keys = [[value allKeys] sortedArrayUsingSelector:@selector(compare:)];
  return "{" + joined(keys, ^(id key) { return scalar(key) + ":" + json(value[key]); }) + "}";
}
