#pragma once

#import "../../../../packages/react-native/ios/probes/Probes.h"
#import "../fakes/FakeSystem.h"
#import "../fakes/Fakes.h"

/** A request as JavaScript sends it. */
NSDictionary *request(NSArray<NSString *> *fields, NSDictionary *sources = @{}, double timeoutMs = 60000);

/** Fresh fakes, and the answer of both parts of a probe, each run as the module runs it. */
NSDictionary *fieldsOf(NSString *probe, NSArray<NSString *> *names);
NSDictionary *answerOf(NSString *probe, NSDictionary *request);

void resetFakes();

/** Writes a value as JSON with sorted keys, `true` apart from `1`; `absent` for nil. */
std::string json(id value);
