import { boolean, number, type Probe, string } from "./declare.ts";
import { NETWORK_AND_CARRIER } from "./disclosure.ts";

export const telephony: Probe = {
  id: "telephony",
  title: "Telephony",
  meaning:
    "SIM and mobile network as apps may read them without a telephone permission; no number, no subscriber identity.",
  platforms: ["android", "ios"],
  enabledByDefault: false,
  disclosure: NETWORK_AND_CARRIER,
  fields: {
    phoneType: string(
      "TelephonyManager.getPhoneType: radio family, such as GSM or CDMA, or none on devices without one.",
      { on: "android", sensitivity: "high" },
    ),
    simCount: number(
      "count",
      "SIMs or cellular plans in use, as the platform counts them; cards and eSIMs are not told apart.",
      { sensitivity: "high" },
    ),
    simState: string("TelephonyManager.getSimState: whether the SIM is absent, locked, ready and the like.", {
      on: "android",
      sensitivity: "high",
    }),
    hasIccCard: boolean("TelephonyManager.hasIccCard: a SIM card is present; false means looked and saw none.", {
      on: "android",
      sensitivity: "high",
    }),
    simOperatorName: string(
      "TelephonyManager.getSimOperatorName: operator that issued the SIM; empty or absent without a SIM.",
      {
        on: "android",
        sensitivity: "high",
      },
    ),
    simCountryIso: string("TelephonyManager.getSimCountryIso: country of the operator that issued the SIM.", {
      on: "android",
      sensitivity: "high",
    }),
    networkOperatorName: string(
      "Name of the mobile operator; on Android that of the network in use, which differs from the SIM's abroad.",
      {
        sensitivity: "high",
      },
    ),
    networkCountryIso: string("Country code of the mobile network as the platform reports it; not a position.", {
      sensitivity: "high",
    }),
    isNetworkRoaming: boolean("TelephonyManager.isNetworkRoaming: registered in a network that counts as roaming.", {
      on: "android",
      sensitivity: "high",
    }),
    dataState: string(
      "TelephonyManager.getDataState: state of the mobile data connection; unconnected is usual while on Wi-Fi.",
      {
        on: "android",
        sensitivity: "high",
      },
    ),
    carrierMobileCountryCode: string(
      "CTCarrier.mobileCountryCode; Apple's placeholders (iOS 16 and later) are left out, never sent.",
      {
        on: "ios",
        sensitivity: "high",
      },
    ),
    carrierMobileNetworkCode: string(
      "CTCarrier.mobileNetworkCode; Apple's placeholders (iOS 16 and later) are left out, never sent.",
      {
        on: "ios",
        sensitivity: "high",
      },
    ),
    carrierAllowsVoip: boolean(
      "CTCarrier.allowsVOIP: the operator allows internet calls; absent where Apple gives placeholders.",
      { on: "ios", sensitivity: "high" },
    ),
    imei: string("Hardware number of the radio. Never filled: a persistent identifier, closed to ordinary apps.", {
      on: "never",
      sensitivity: "high",
    }),
  },
};
