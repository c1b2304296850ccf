import { boolean, number, type Probe, string } from "./declare.ts";
import { CARRIER } from "./disclosure.ts";
import { COUNTRY, COUNTRY_CODE, NETWORK_CODE } from "./forms.ts";

export const telephony: Probe = {
  id: "telephony",
  title: "Telephony",
  meaning:
    "SIM and mobile network as apps may read them without a telephone permission; no number, no subscriber identity.",
  platforms: ["android", "ios"],
  enabledByDefault: false,
  disclosure: CARRIER,
  fields: {
    phoneType: string(
      "TelephonyManager.getPhoneType: radio family, such as GSM or CDMA, or none on devices without one.",
      { on: "android", sensitivity: "high", values: ["none", "gsm", "cdma", "sip"] },
    ),
    simCount: number(
      "count",
      "SIMs or cellular plans in use, as the platform counts them; cards and eSIMs are not distinguished.",
      { sensitivity: "high" },
    ),
    simState: string("TelephonyManager.getSimState: whether the SIM is absent, locked, ready and the like.", {
      on: "android",
      sensitivity: "high",
      values: [
        "absent",
        "pin_required",
        "puk_required",
        "network_locked",
        "ready",
        "not_ready",
        "permanently_disabled",
        "card_io_error",
        "card_restricted",
      ],
    }),
    hasIccCard: boolean(
      "TelephonyManager.hasIccCard: a SIM card is present; false means that the SDK looked and found none.",
      {
        on: "android",
        sensitivity: "high",
      },
    ),
    simOperatorName: string(
      "TelephonyManager.getSimOperatorName: operator that issued the SIM; empty or absent without a SIM.",
      {
        on: "android",
        sensitivity: "high",
        raw: true,
      },
    ),
    simCountryIso: string("TelephonyManager.getSimCountryIso: country of the operator that issued the SIM.", {
      on: "android",
      sensitivity: "high",
      form: COUNTRY,
    }),
    networkOperatorName: string(
      "Name of the mobile operator; on Android that of the network in use, which differs from the SIM's abroad.",
      {
        sensitivity: "high",
        raw: true,
        systems: { ios: { until: 16 } },
      },
    ),
    networkCountryIso: string("Country code of the mobile network as the platform reports it; not a position.", {
      sensitivity: "high",
      form: COUNTRY,
      systems: { ios: { until: 16 } },
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
        values: ["disconnected", "connecting", "connected", "suspended", "disconnecting", "handover_in_progress"],
      },
    ),
    carrierMobileCountryCode: string(
      "CTCarrier.mobileCountryCode; Apple's placeholders (iOS 16 and later) are left out, never sent.",
      {
        on: "ios",
        sensitivity: "high",
        form: COUNTRY_CODE,
        systems: { ios: { until: 16 } },
      },
    ),
    carrierMobileNetworkCode: string(
      "CTCarrier.mobileNetworkCode; Apple's placeholders (iOS 16 and later) are left out, never sent.",
      {
        on: "ios",
        sensitivity: "high",
        form: NETWORK_CODE,
        systems: { ios: { until: 16 } },
      },
    ),
    carrierAllowsVoip: boolean(
      "CTCarrier.allowsVOIP: the operator allows internet calls; absent where Apple gives placeholders.",
      { on: "ios", sensitivity: "high", systems: { ios: { until: 16 } } },
    ),
    imei: string("Hardware number of the radio. Never filled: a persistent identifier, closed to ordinary apps.", {
      on: "never",
      sensitivity: "high",
    }),
  },
};
