import "react-native-get-random-values";
import { AppRegistry } from "react-native";
import { name } from "./app.json";
import { CONSENT_LIST } from "./guide/consent-list";
import { observePayment } from "./guide/payment";
import { hasSuBinary } from "./guide/root";
import { clientFor, sendSignals } from "./guide/send-signals";

export const signals = { CONSENT_LIST, clientFor, hasSuBinary, observePayment, sendSignals };
AppRegistry.registerComponent(name, () => () => null);
