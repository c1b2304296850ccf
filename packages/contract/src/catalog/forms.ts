/** Forms of texts that are neither a closed vocabulary nor the platform's own words. */

export interface Form {
  /** The phrase that the data dictionary shows. */
  readonly name: string;
  /** A regular expression for the whole text, without flags, in the syntax that ECMAScript, Java and ICU share. */
  readonly pattern: string;
}

export const SHA256: Form = { name: "SHA-256, 64 lower-case hex digits", pattern: "^[0-9a-f]{64}$" };
export const IDENTIFIER: Form = {
  name: "identifier of dotted parts, such as a package",
  pattern: "^[A-Za-z_][A-Za-z0-9_$-]*(\\.[A-Za-z0-9_$-]+)*$",
};
export const SCHEME: Form = { name: "URL scheme", pattern: "^[a-z][a-z0-9+.-]*$" };
export const PATH: Form = { name: "absolute path", pattern: "^/" };
export const FACT: Form = { name: "name=value", pattern: "^[A-Za-z0-9_.]+=" };
export const VARIABLE: Form = { name: "name of an environment variable", pattern: "^[A-Za-z_][A-Za-z0-9_]*$" };
export const VERSION: Form = { name: "numbers with dots", pattern: "^[0-9]+(\\.[0-9]+)*$" };

/**
 * An address that is neither link-local nor made from a hardware address (EUI-64: `ff:fe` in the middle of the last 64
 * bits).
 */
export const ADDRESS: Form = {
  name: "IPv4 or IPv6 address",
  pattern:
    "^(?!169\\.254\\.)(?!fe[89ab][0-9a-f]:)(?!.*ff:fe[0-9a-f]{2}:[0-9a-f]{1,4}$)([0-9]{1,3}(\\.[0-9]{1,3}){3}|[0-9a-f:.]*:[0-9a-f:.]*)$",
};

export const LANGUAGE: Form = { name: "ISO 639 language code", pattern: "^[a-z]{2,3}$" };
export const LANGUAGE_TAG: Form = { name: "BCP 47 language tag", pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$" };
export const REGION: Form = { name: "ISO 3166 country or UN M.49 region", pattern: "^([A-Z]{2}|[0-9]{3})$" };
export const COUNTRY: Form = { name: "ISO 3166 country, lower case", pattern: "^[a-z]{2}$" };
export const TIME_ZONE: Form = { name: "IANA time zone", pattern: "^[A-Za-z][A-Za-z0-9_+:-]*(/[A-Za-z0-9_+-]+)*$" };
export const CURRENCY: Form = { name: "ISO 4217 currency", pattern: "^[A-Z]{3}$" };
export const COUNTRY_CODE: Form = { name: "mobile country code, 3 digits", pattern: "^[0-9]{3}$" };
export const NETWORK_CODE: Form = { name: "mobile network code, 2 or 3 digits", pattern: "^[0-9]{2,3}$" };
