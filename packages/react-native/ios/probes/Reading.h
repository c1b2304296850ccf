#pragma once

#import <Foundation/Foundation.h>

#include <memory>

#include "../core/Token.h"

NS_ASSUME_NONNULL_BEGIN

/** Why no value could be read: the interface's `unavailable`. */
typedef NSString *DRSUnavailable NS_STRING_ENUM;
FOUNDATION_EXPORT DRSUnavailable const DRSUnavailableUnsupported;
FOUNDATION_EXPORT DRSUnavailable const DRSUnavailablePermission;

/**
 * One call: what it requests, and what was read for it so far. It reads only what is requested, stops reading when the
 * token stopped, and a read that fails affects no other one. Used by one thread at a time.
 */
@interface DRSReading : NSObject

@property(nonatomic, readonly) std::shared_ptr<drs::Token> token;

/** Whether a part threw: then the call fails. */
@property(nonatomic, readonly) BOOL failed;

/** The interface's answer, as far as it was read. */
@property(nonatomic, readonly) NSDictionary<NSString *, id> *answer;

/** @return nil where the request has not the interface's shape. */
- (nullable instancetype)initWithRequest:(NSDictionary *)request
                                   token:(std::shared_ptr<drs::Token>)token NS_DESIGNATED_INITIALIZER;
- (instancetype)init NS_UNAVAILABLE;

- (BOOL)wantsField:(NSString *)name;
- (BOOL)wantsSource:(NSString *)name;
/** Whether the field was read already. */
- (BOOL)hasField:(NSString *)name;

/** @param read answers nil where the value could not be read: then the field is left out. */
- (void)field:(NSString *)name read:(id _Nullable(NS_NOESCAPE ^)(void))read;

/** @param gather takes the source's argument as it came. */
- (void)source:(NSString *)name gather:(id _Nullable(NS_NOESCAPE ^)(id argument))gather;

/** Runs a part of a probe, unless the call has stopped; an exception ends only that part. */
- (void)part:(void (*)(DRSReading *))read;

/** The whole answer, unless a value was read. */
- (void)unavailable:(DRSUnavailable)reason;

@end

NS_ASSUME_NONNULL_END
