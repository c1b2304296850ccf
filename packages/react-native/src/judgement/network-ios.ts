import type { ProxySettings } from "../native/native-interface.ts";
import { readList } from "../native/read-answer.ts";
import type { Judgement, Judgements, Value } from "./judgement.ts";

/**
 * A VPN gives its interface separate settings, which CFNetwork lists under `__SCOPED__`. An interface such as `utun0`
 * without separate settings is no sign of a VPN, because iOS itself uses such interfaces.
 */
export const TUNNEL = /^(tap|tun|utun|ppp|ipsec)\d*$/;

/** If the settings were read, an absent member means "not set" (CFNetwork's documentation). */
function from(conclude: (settings: ProxySettings) => Value | undefined): Judgement {
  return { sources: { proxies: true }, judge: ({ proxies }) => proxies && conclude(readSettings(proxies)) };
}

/** A member of the wrong type counts as not set. */
function readSettings({ scopedInterfaces, ...members }: Readonly<Record<string, unknown>>): ProxySettings {
  const settings = Object.entries(members).filter(([name, member]) => {
    const type = name.endsWith("Enabled") ? "boolean" : name.endsWith("Port") ? "number" : "string";
    return typeof member === type;
  });
  const interfaces = readList(scopedInterfaces);
  return { ...Object.fromEntries(settings), ...(interfaces && { scopedInterfaces: interfaces }) };
}

interface Proxy {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

function proxyOf(settings: ProxySettings): Proxy | undefined {
  if (settings.httpEnabled) return { host: settings.httpHost, port: settings.httpPort };
  if (settings.pacEnabled) return { host: settings.pacHost };
  return settings.socksEnabled ? { host: settings.socksHost, port: settings.socksPort } : undefined;
}

export function networkIos({ tunnel }: { readonly tunnel: RegExp }): Judgements {
  return {
    isVpnActive: from(({ scopedInterfaces }) => scopedInterfaces?.some((name) => tunnel.test(name))),
    isProxyConfigured: from((settings) => proxyOf(settings) !== undefined),
    proxyHost: from((settings) => proxyOf(settings)?.host || undefined),
    proxyPort: from((settings) => proxyOf(settings)?.port),
  };
}
