#pragma once

#import <Foundation/Foundation.h>

#include <optional>
#include <set>
#include <string>

/** The part of the published schema that is about fields on iOS. */
namespace published {

NSArray<NSString *> *probes();
NSArray<NSString *> *fieldsOf(NSString *probe);

/** All values of a field on iOS. */
std::set<std::string> vocabulary(NSString *probe, NSString *field);

/** Whether a value, or each item of a list, matches the vocabulary, form or range of its field. */
bool isPublished(id value, NSString *probe, NSString *field);

}  // namespace published
