import { registerRootComponent } from "expo";
import { CONSENT_LIST } from "./consent-list";
import { observePayment } from "./payment";
import { hasSuBinary } from "./root";
import { clientFor, sendSignals } from "./send-signals";

/** The guide's code must be reachable from the app's entry, otherwise a bundler would leave it out. */
export const signals = { CONSENT_LIST, clientFor, hasSuBinary, observePayment, sendSignals };

registerRootComponent(() => null);
