import "react-native-get-random-values";
import { AppRegistry } from "react-native";
import { name } from "./app.json";
import { CONSENT_LIST } from "./consent-list";
import { observePayment } from "./payment";
import { hasSuBinary } from "./root";
import { clientFor, sendSignals } from "./send-signals";

export const signals = { CONSENT_LIST, clientFor, hasSuBinary, observePayment, sendSignals };
AppRegistry.registerComponent(name, () => () => null);
