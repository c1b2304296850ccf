/**
 * The data that an app collects, in the terms of the app stores. The disclosure of a probe is that of its most
 * sensitive field.
 */

export interface Disclosure {
  /** Google Play, Data safety: category and data type. */
  readonly play: string;
  /** Apple, App Privacy: data type. */
  readonly apple: string;
  /** What the data contains, what it does not contain, or on what its content depends. */
  readonly note?: string;
}

export const POSITION: Disclosure = {
  play: "Location: approximate location, precise location",
  apple: "Location: precise location, coarse location",
  note: "as far as the app was granted it; precise where the app holds the precise permission",
};

export const INSTALLED_APPS: Disclosure = {
  play: "App activity: installed apps",
  apple: "Other data: other data types",
  note: "whether apps of a fixed list are there, never the list of all",
};

const OTHER_DATA: Disclosure = {
  play: "App info and performance: other app performance data",
  apple: "Other data: other data types",
};

export const NETWORK: Disclosure = {
  ...OTHER_DATA,
  note: "local addresses hold no hardware address, but a global IPv6 address belongs to one device for as long as it is used; exclude `localIpAddresses` where you do not need it",
};

export const CARRIER: Disclosure = {
  ...OTHER_DATA,
  note: "country and name of the carrier; no number of a SIM, a subscriber or a device",
};

export const DIAGNOSTICS: Disclosure = {
  play: "App info and performance: diagnostics",
  apple: "Diagnostics: other diagnostic data",
};
