#pragma once

#import "../../../../packages/react-native/ios/probes/Probes.h"
#import "../fakes/FakeSystem.h"
#import "../fakes/Fakes.h"

/** A request in the form in which JavaScript sends it. */
NSDictionary *request(NSArray<NSString *> *fields, NSDictionary *sources = @{}, double timeoutMs = 60000);

/** Resets the fakes, and returns the answer of both parts of a probe, which run as in the module. */
NSDictionary *fieldsOf(NSString *probe, NSArray<NSString *> *names);
NSDictionary *answerOf(NSString *probe, NSDictionary *request);

void resetFakes();

/** Writes a value as JSON with sorted keys. `true` differs from `1`; nil is written as `absent`. */
std::string json(id value);
