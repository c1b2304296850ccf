/**
 * Apps that `transaction_safety` and `media_bluetooth_apps` look for. The names of packages are from the apps' pages in
 * the store.
 */
import { under } from "./under.ts";

/** Apps for remote support and remote control of an Android device. */
export const REMOTE_ACCESS_APPS = under(
  "com.",
  "teamviewer.quicksupport.market teamviewer.host.market teamviewer.teamviewer.market.mobile" +
    " anydesk.anydeskandroid carriez.flutter_hbb sand.airdroid sand.airmirror splashtop.sos" +
    " logmein.rescuemobile zoho.assist.agent rsupport.mvagent bomgar.thinclient.android",
);

/** Remote access apps, apps that fake a position, and apps that run other apps inside themselves. */
export const FLAGGED_APPS = [
  ...REMOTE_ACCESS_APPS,
  ...under(
    "com.",
    "lexa.fakegps incorporateapps.fakegps.fre theappninjas.fakegpsjoystick lbe.parallel.intl parallel.space.lite",
  ),
];

/** URL schemes of remote support apps for iOS, from the documentation of their makers. */
export const FLAGGED_SCHEMES = ["anydesk", "rustdesk", "teamviewer8"];
