#pragma once

#import <Foundation/Foundation.h>

#include <optional>
#include <string>
#include <vector>

NS_ASSUME_NONNULL_BEGIN

/**
 * Converts values into objects for the bridge: a boolean into a boxed boolean, a number into a boxed double. `boolean`
 * and `number` return nil for a missing value, `number` also for a number that is not finite.
 */
namespace drs {

NSNumber *_Nullable boolean(std::optional<bool> value);

NSNumber *_Nullable number(std::optional<double> value);

/**
 * The text; nil if it is empty, too long or no text. An entry of a property list, for example, may have any type.
 */
NSString *_Nullable text(id _Nullable value);
NSString *_Nullable text(const std::optional<std::string> &value);

NSArray<NSString *> *texts(const std::vector<std::string> &values);
NSArray<NSNumber *> *numbers(const std::vector<double> &values);

std::string bytesOf(NSString *text);

}  // namespace drs

NS_ASSUME_NONNULL_END
