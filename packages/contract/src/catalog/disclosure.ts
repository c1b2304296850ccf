/** In whose words the stores ask what an app collects; a probe belongs to the most telling kind that one of its fields has. */

export interface Disclosure {
  /** Google Play, Data safety: category and data type. */
  readonly play: string;
  /** Apple, App Privacy: data type. */
  readonly apple: string;
  /** What the answer depends on, where it does. */
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

export const NETWORK_AND_CARRIER: Disclosure = {
  play: "App info and performance: other app performance data",
  apple: "Other data: other data types",
  note: "network and carrier names and local addresses; none of them is an identifier of the device",
};

export const DIAGNOSTICS: Disclosure = {
  play: "App info and performance: diagnostics",
  apple: "Diagnostics: other diagnostic data",
};
