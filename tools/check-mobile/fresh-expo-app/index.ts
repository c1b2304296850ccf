import { registerRootComponent } from "expo";
import { CONSENT_LIST } from "./consent-list";
import { observePayment } from "./payment";
import { hasSuBinary } from "./root";
import { clientFor, sendSignals } from "./send-signals";

/** What the guide says, reachable from the app's entry: else a bundler leaves it out. */
export const signals = { CONSENT_LIST, clientFor, hasSuBinary, observePayment, sendSignals };

registerRootComponent(() => null);
