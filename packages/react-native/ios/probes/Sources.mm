#import <CFNetwork/CFNetwork.h>
#import <UIKit/UIKit.h>

#import "../core/Bounds.h"
#import "../core/Existence.h"
#import "../core/NumberVector.h"
#import "../core/Texts.h"
#import "../darwin/Files.h"
#import "../darwin/Images.h"
#import "../darwin/Kernel.h"
#import "../darwin/Loopback.h"
#import "Probes.h"
#import "Values.h"

#include <cmath>

namespace drs {

namespace {

using Look = Existence (^)(const std::string &name);

NSDictionary *toDictionary(const Presence &presence) {
  return @{@"present" : texts(presence.present), @"absent" : texts(presence.absent)};
}

/** @return no value if the argument is no list of texts, or if it has too many. */
std::optional<std::vector<std::string>> namesOf(id argument) {
  if (![argument isKindOfClass:NSArray.class] || [argument count] > bounds::kRequested) return std::nullopt;
  std::vector<std::string> names;
  for (id name in argument) {
    if (text(name) == nil) return std::nullopt;
    names.push_back(bytesOf(name));
  }
  return names;
}

void lookAt(DRSReading *reading, NSString *source, Look look) {
  [reading source:source
           gather:^id(id argument) {
             const auto names = namesOf(argument);
             return names ? toDictionary(lookAtAll(*names, look, *reading.token)) : nil;
           }];
}

Existence classExistence(const std::string &name) {
  return NSClassFromString(text(name) ?: @"") != nil ? Existence::present : Existence::absent;
}

Existence portExistence(const std::string &name, const Token &token) {
  const auto port = portOf(name);
  return port ? loopback::listener(*port, token) : Existence::unknown;
}

/** The system answers no for every scheme that is not declared. Such a scheme is not queried, and stays unknown. */
Existence schemeExistence(const std::string &name, NSSet *declared) {
  NSString *scheme = text(name);
  if (scheme == nil || ![declared containsObject:scheme.lowercaseString]) return Existence::unknown;
  NSURL *url = [NSURL URLWithString:[scheme stringByAppendingString:@"://"]];
  if (url == nil) return Existence::unknown;
  return [UIApplication.sharedApplication canOpenURL:url] ? Existence::present : Existence::absent;
}

/** The folder that contains the bundle. Only names are examined, and no paths. */
Existence existenceInBundleFolder(const std::string &name) {
  NSString *folder = NSBundle.mainBundle.bundlePath.stringByDeletingLastPathComponent;
  if (folder.length == 0 || name.find('/') != std::string::npos) return Existence::unknown;
  return files::existence(bytesOf(folder) + "/" + name);
}

NSSet<NSString *> *declaredSchemes() {
  id listed = [NSBundle.mainBundle objectForInfoDictionaryKey:@"LSApplicationQueriesSchemes"];
  NSMutableSet<NSString *> *schemes = [NSMutableSet set];
  if (![listed isKindOfClass:NSArray.class]) return schemes;
  for (id scheme in listed) {
    if (text(scheme) != nil) [schemes addObject:[scheme lowercaseString]];
  }
  return schemes;
}

NSNumber *flag(id value) { return [value isKindOfClass:NSNumber.class] ? boolean([value intValue] != 0) : nil; }

NSNumber *port(id value) { return [value isKindOfClass:NSNumber.class] ? number([value doubleValue]) : nil; }

/** Returns only the host of the URL for automatic configuration, because the rest may contain secrets. */
NSString *hostOf(id address) {
  NSString *known = text(address);
  return known == nil ? nil : text([NSURL URLWithString:known].host);
}

/** The keys are written as text, because CFNetwork declares the keys for SOCKS and for scopes only on the Mac. */
NSDictionary *proxies() {
  NSDictionary *settings = CFBridgingRelease(CFNetworkCopySystemProxySettings());
  if (settings == nil) return nil;
  NSMutableDictionary<NSString *, id> *found = [NSMutableDictionary dictionary];
  found[@"httpEnabled"] = flag(settings[@"HTTPEnable"]);
  found[@"httpHost"] = text(settings[@"HTTPProxy"]);
  found[@"httpPort"] = port(settings[@"HTTPPort"]);
  found[@"socksEnabled"] = flag(settings[@"SOCKSEnable"]);
  found[@"socksHost"] = text(settings[@"SOCKSProxy"]);
  found[@"socksPort"] = port(settings[@"SOCKSPort"]);
  found[@"pacEnabled"] = flag(settings[@"ProxyAutoConfigEnable"]);
  found[@"pacHost"] = hostOf(settings[@"ProxyAutoConfigURLString"]);
  id scopes = settings[@"__SCOPED__"];
  if ([scopes isKindOfClass:NSDictionary.class]) found[@"scopedInterfaces"] = [scopes allKeys];
  return found;
}

std::optional<double> numberOf(id value) {
  if (![value isKindOfClass:NSNumber.class]) return std::nullopt;
  return [value doubleValue];
}

bool isCount(std::optional<double> value, double largest) {
  return value && *value >= 0 && *value <= largest && std::trunc(*value) == *value;
}

NSDictionary *calculated(id argument, const Token &token) {
  if (![argument isKindOfClass:NSDictionary.class]) return nil;
  const auto seed = numberOf(argument[@"seed"]);
  const auto count = numberOf(argument[@"count"]);
  id inputs = argument[@"inputs"];
  if (!isCount(seed, UINT32_MAX) || !isCount(count, bounds::kIntegers)) return nil;
  if (![inputs isKindOfClass:NSArray.class] || [inputs count] > bounds::kFloatInputs) return nil;
  std::vector<double> floats;
  for (id input in inputs) {
    const auto value = numberOf(input);
    if (!value) return nil;
    floats.push_back(*value);
  }
  const auto vector = calculate(static_cast<std::uint32_t>(*seed), static_cast<std::size_t>(*count), floats, token);
  if (!vector) return nil;
  return @{
    @"integers" : numbers(vector->integers),
    @"floats" : numbers(vector->floats),
    @"negativeZero" : [NSNumber numberWithDouble:vector->negativeZero],
    @"subnormal" : [NSNumber numberWithDouble:vector->subnormal],
  };
}

}  // namespace

void gatherOnMain(DRSReading *reading) {
  if (![reading wantsSource:@"schemes"]) return;
  NSSet<NSString *> *declared = declaredSchemes();
  lookAt(reading, @"schemes", ^(const std::string &name) { return schemeExistence(name, declared); });
}

void gather(DRSReading *reading) {
  const auto token = reading.token;
  lookAt(reading, @"paths", ^(const std::string &path) { return files::existence(path); });
  lookAt(reading, @"bundleFolder", ^(const std::string &name) { return existenceInBundleFolder(name); });
  lookAt(reading, @"writablePaths", ^(const std::string &path) { return files::writability(path); });
  lookAt(reading, @"links", ^(const std::string &path) { return files::link(path); });
  lookAt(reading, @"environment", ^(const std::string &name) { return files::environmentVariable(name); });
  lookAt(reading, @"classes", ^(const std::string &name) { return classExistence(name); });
  lookAt(reading, @"ports", ^(const std::string &name) { return portExistence(name, *token); });
  [reading source:@"images" gather:^id(id) { return texts(images::paths(*token)); }];
  [reading source:@"parentPid" gather:^id(id) { return number(kernel::parentPid()); }];
  [reading source:@"proxies" gather:^id(id) { return proxies(); }];
  [reading source:@"numbers" gather:^id(id argument) { return calculated(argument, *token); }];
}

}  // namespace drs
