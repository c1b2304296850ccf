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
 * What one call requests, and what was read for the call so far. An object reads only what is requested, and stops
 * reading when the token stops. A failed read affects no other read. Only one thread at a time uses an object.
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

/** Runs a part of a probe, unless the call has stopped. An exception ends the part and sets `failed`. */
- (void)part:(void (*)(DRSReading *))read;

/** Sets the reason that becomes the whole answer if no value is read. */
- (void)unavailable:(DRSUnavailable)reason;

@end

NS_ASSUME_NONNULL_END
