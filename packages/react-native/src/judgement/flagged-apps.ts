/** Apps that are looked for around a transaction; their identifiers are those of their pages in the stores. */
import { under } from "./under.ts";

/** Remote support and remote control of an Android device. */
export const REMOTE_ACCESS_APPS = under(
  "com.",
  "teamviewer.quicksupport.market teamviewer.host.market teamviewer.teamviewer.market.mobile" +
    " anydesk.anydeskandroid carriez.flutter_hbb sand.airdroid sand.airmirror splashtop.sos" +
    " logmein.rescuemobile zoho.assist.agent rsupport.mvagent bomgar.thinclient.android",
);

/** Apps that feign a position, and apps that run others inside themselves. */
export const FLAGGED_APPS = [
  ...REMOTE_ACCESS_APPS,
  ...under(
    "com.",
    "lexa.fakegps incorporateapps.fakegps.fre theappninjas.fakegpsjoystick lbe.parallel.intl parallel.space.lite",
  ),
];

/** URL schemes of remote support apps of iOS, as their makers document them. */
export const FLAGGED_SCHEMES = ["anydesk", "rustdesk", "teamviewer8"];
