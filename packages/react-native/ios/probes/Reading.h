#pragma once

#import <Foundation/Foundation.h>

#include <memory>

#include "../core/Token.h"

NS_ASSUME_NONNULL_BEGIN

/** The reason why no value could be read: `unavailable` of the interface. */
typedef NSString *DRSUnavailable NS_STRING_ENUM;
FOUNDATION_EXPORT DRSUnavailable const DRSUnavailableUnsupported;
FOUNDATION_EXPORT DRSUnavailable const DRSUnavailablePermission;

/**
 * One call: what it requests, and what was read for it so far. It reads only what is requested, and stops reading when
 * the token stops. A failed read affects no other read. Only one thread uses it at a time.
 */
@interface DRSReading : NSObject

@property(nonatomic, readonly) std::shared_ptr<drs::Token> token;

/** Whether a part threw an exception. If so, the call fails. */
@property(nonatomic, readonly) BOOL failed;

/** The interface's answer, with what was read so far. */
@property(nonatomic, readonly) NSDictionary<NSString *, id> *answer;

/** @return nil if the request does not have the interface's shape. */
- (nullable instancetype)initWithRequest:(NSDictionary *)request
                                   token:(std::shared_ptr<drs::Token>)token NS_DESIGNATED_INITIALIZER;
- (instancetype)init NS_UNAVAILABLE;

- (BOOL)wantsField:(NSString *)name;
- (BOOL)wantsSource:(NSString *)name;
/** Whether the field has already been read. */
- (BOOL)hasField:(NSString *)name;

/** @param read returns nil if the value could not be read. The field is then left out. */
- (void)field:(NSString *)name read:(id _Nullable(NS_NOESCAPE ^)(void))read;

/** @param gather receives the source's argument unchanged. */
- (void)source:(NSString *)name gather:(id _Nullable(NS_NOESCAPE ^)(id argument))gather;

/** Runs a part of a probe, unless the call has stopped. An exception ends only this part. */
- (void)part:(void (*)(DRSReading *))read;

/** Sets the reason as the whole answer, unless a value was read. */
- (void)unavailable:(DRSUnavailable)reason;

@end

NS_ASSUME_NONNULL_END
