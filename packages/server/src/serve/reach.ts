import type { Config } from "../base/config/config.ts";
import { isLoopback } from "../base/config/rules.ts";
import type { PublicAddress, Reach } from "../http/admin/cookies.ts";

/** People sign in at a public address, or by a link on loopback if there is no identity provider. */
export function reachOf({ embedded, service: { admin } }: Config): Reach | undefined {
  if (admin.publicUrl !== undefined) return publicAddressOf(admin.publicUrl);
  const { certFile } = admin.tls;
  // guard: a link makes a person only where one computer has both the database and the browser
  if (!embedded || !isLoopback(admin.host) || certFile !== undefined) return undefined;
  return "loopback";
}

export function publicAddressOf(publicUrl: string): PublicAddress {
  const { origin, pathname } = new URL(publicUrl);
  return { origin, prefix: pathname.replace(/\/$/, "") };
}
