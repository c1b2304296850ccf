// Includes GNUstep's Foundation in place of Apple's. What only Apple's Foundation has is declared at the end, and the
// tests fake it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include_next <Foundation/Foundation.h>

#include <dispatch/dispatch.h>

#undef YES
#undef NO
#define YES __objc_yes
#define NO __objc_no

#define API_AVAILABLE(...)
#define API_DEPRECATED(...)
#define NS_UNAVAILABLE __attribute__((unavailable))
#define NS_DESIGNATED_INITIALIZER __attribute__((objc_designated_initializer))
#define NS_STRING_ENUM
#define NS_NOESCAPE __attribute__((noescape))
#define NS_SWIFT_UNAVAILABLE(x)
#define __deprecated __attribute__((deprecated))
#define __deprecated_msg(x)
#ifndef NS_ASSUME_NONNULL_BEGIN
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#endif
#ifndef FOUNDATION_EXPORT
#define FOUNDATION_EXPORT extern "C"
#endif

// A macro, because GNUstep itself needs the unchanged function.
Class fakeClassFromString(NSString *name);
#define NSClassFromString fakeClassFromString

// React Native's headers expect that Apple's headers include these.
#include <functional>
#include <memory>
#include <string>
#include <vector>

@interface NSProcessInfo (Apple)
- (BOOL)isiOSAppOnMac;
- (BOOL)isMacCatalystApp;
- (BOOL)isLowPowerModeEnabled;
@end

@interface NSOperationQueue (Apple)
- (void)setQualityOfService:(NSQualityOfService)quality;
@end

@interface NSLocale (Apple)
- (NSString *)calendarIdentifier;
- (NSString *)currencyCode;
- (NSString *)decimalSeparator;
- (NSString *)groupingSeparator;
@end

@interface NSBundle (Apple)
- (NSURL *)appStoreReceiptURL;
@end
