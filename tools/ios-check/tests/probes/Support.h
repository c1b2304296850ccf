#pragma once

#import "../../../../packages/react-native/ios/probes/Probes.h"
#import "../fakes/FakeSystem.h"
#import "../fakes/Fakes.h"

/** A request in the form in which JavaScript sends it. */
NSDictionary *request(NSArray<NSString *> *fields, NSDictionary *sources = @{}, double timeoutMs = 60000);

/** Runs both parts of a probe as the module does. @return the fields of the answer. */
NSDictionary *fieldsOf(NSString *probe, NSArray<NSString *> *names);

/** Runs both parts of a probe as the module does. @return the whole answer. */
NSDictionary *answerOf(NSString *probe, NSDictionary *request);

/** Gives the fakes their initial values. */
void resetFakes();

/** Writes a value as JSON with sorted keys. `true` differs from `1`; nil is written as `absent`. */
std::string json(id value);
