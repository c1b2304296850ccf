#pragma once

#import <Foundation/Foundation.h>

#include <optional>
#include <string>
#include <vector>

NS_ASSUME_NONNULL_BEGIN

/** The only place where values are boxed: a boolean is always a true one, a number always a finite double. */
namespace drs {

NSNumber *_Nullable boolean(std::optional<bool> value);

NSNumber *_Nullable number(std::optional<double> value);

/** An empty text has no meaning, nor has a value that is no text (an entry of a property list may be anything). */
NSString *_Nullable text(id _Nullable value);
NSString *_Nullable text(const std::optional<std::string> &value);

NSArray<NSString *> *texts(const std::vector<std::string> &values);
NSArray<NSNumber *> *numbers(const std::vector<double> &values);

std::string bytesOf(NSString *text);

}  // namespace drs

NS_ASSUME_NONNULL_END
