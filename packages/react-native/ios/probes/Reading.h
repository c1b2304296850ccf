#pragma once

#import <Foundation/Foundation.h>

#include <memory>

#include "../core/Token.h"

NS_ASSUME_NONNULL_BEGIN

/** Why nothing could be read: the interface's `unavailable`. */
typedef NSString *DRSUnavailable NS_STRING_ENUM;
FOUNDATION_EXPORT DRSUnavailable const DRSUnavailableUnsupported;
FOUNDATION_EXPORT DRSUnavailable const DRSUnavailablePermission;

/**
 * One call: what it asks for, and what was read for it so far. Nothing is read that is not asked for, nothing after the
 * token stopped, and a read that fails takes no other one with it. Used by one thread at a time.
 */
@interface DRSReading : NSObject

@property(nonatomic, readonly) std::shared_ptr<drs::Token> token;

/** Whether a part threw: then the call fails. */
@property(nonatomic, readonly) BOOL failed;

/** The interface's answer, as it stands. */
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

/** Runs a part of a probe, unless the call has stopped; whatever it throws ends that part alone. */
- (void)part:(void (*)(DRSReading *))read;

/** Instead of all else, unless something was read. */
- (void)unavailable:(DRSUnavailable)reason;

@end

NS_ASSUME_NONNULL_END
