#import "Reading.h"

#include "../core/Bounds.h"

DRSUnavailable const DRSUnavailableUnsupported = @"unsupported";
DRSUnavailable const DRSUnavailablePermission = @"permission";

@implementation DRSReading {
  NSSet<NSString *> *_wanted;
  NSDictionary<NSString *, id> *_sources;
  NSMutableDictionary<NSString *, id> *_fields;
  NSMutableDictionary<NSString *, id> *_evidence;
  DRSUnavailable _unavailable;
}

- (instancetype)initWithRequest:(NSDictionary *)request token:(std::shared_ptr<drs::Token>)token {
  if (!(self = [super init])) return nil;
  id fields = request[@"fields"];
  id sources = request[@"sources"];
  if (![fields isKindOfClass:NSArray.class] || ![sources isKindOfClass:NSDictionary.class]) return nil;
  if ([fields count] > drs::bounds::kRequested) return nil;
  _wanted = [NSSet setWithArray:fields];
  _sources = sources;
  _fields = [NSMutableDictionary dictionary];
  _evidence = [NSMutableDictionary dictionary];
  _token = std::move(token);
  return self;
}

- (NSDictionary<NSString *, id> *)answer {
  if (_unavailable != nil && _fields.count == 0 && _evidence.count == 0) return @{@"unavailable" : _unavailable};
  return @{@"fields" : [_fields copy], @"evidence" : [_evidence copy]};
}

- (BOOL)wantsField:(NSString *)name {
  return [_wanted containsObject:name];
}

- (BOOL)wantsSource:(NSString *)name {
  return _sources[name] != nil;
}

- (BOOL)hasField:(NSString *)name {
  return _fields[name] != nil;
}

- (void)field:(NSString *)name read:(id _Nullable(NS_NOESCAPE ^)(void))read {
  if ([_wanted containsObject:name]) [self put:name into:_fields read:read];
}

- (void)source:(NSString *)name gather:(id _Nullable(NS_NOESCAPE ^)(id))gather {
  id argument = _sources[name];
  if (argument == nil) return;
  [self put:name into:_evidence read:^{ return gather(argument); }];
}

- (void)part:(void (*)(DRSReading *))read {
  if (_token->stopped()) return;
  @try {
    read(self);
  } @catch (...) { _failed = YES; }
}

- (void)unavailable:(DRSUnavailable)reason {
  _unavailable = reason;
}

- (void)put:(NSString *)name
       into:(NSMutableDictionary<NSString *, id> *)values
       read:(id _Nullable(NS_NOESCAPE ^)(void))read {
  if (_token->stopped()) return;
  @try {
    id value = read();
    if (value != nil && !_token->stopped()) values[name] = value;
  } @catch (...) {
    // A field whose read throws is left out, and the other fields are still read.
  }
}

@end
