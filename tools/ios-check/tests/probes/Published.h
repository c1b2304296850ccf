#pragma once

#import <Foundation/Foundation.h>

#include <optional>
#include <set>
#include <string>

/** What the schema that is published says of the fields that iOS fills. */
namespace published {

NSArray<NSString *> *probes();
NSArray<NSString *> *fieldsOf(NSString *probe);

/** All values of a field on iOS. */
std::set<std::string> vocabulary(NSString *probe, NSString *field);

/** Whether a value, or each item of a list, is of the vocabulary, form or range of its field. */
bool isPublished(id value, NSString *probe, NSString *field);

}  // namespace published
