/**
 * Marks of tools that run or install an app without the store, as their sources have them: LiveContainer
 * (github.com/LiveContainer/LiveContainer) and TrollStore (github.com/opa334/TrollStore).
 */
import { anyFound, named, present, together } from "./finding.ts";
import { type MAC_IMAGES, onPhone } from "./ios-host.ts";
import type { Judgements } from "./judgement.ts";
import { under } from "./under.ts";

/** LiveContainer stores its own home folder in them before it gives the guest another one. */
export const GUEST_VARIABLES = under("", "LC_HOME_PATH LP_HOME_PATH");

/**
 * LiveContainer loads a guest as a library from its documents or from the folder of its app group. An installed app is
 * loaded from the folders of the system.
 */
const GUEST_IMAGE = /\/(Documents|LiveContainer)\/Applications\/[^/]+\.app\//;

export function guestImage(path: string): string | undefined {
  return GUEST_IMAGE.exec(path)?.[0];
}

/** Files that TrollStore and TrollStore Lite make next to the bundle of an app that they install. */
export const TROLL_STORE_MARKS = under("_TrollStore", " Lite");

export function applicationIos({ macs }: { readonly macs: typeof MAC_IMAGES }): Judgements {
  const phone = onPhone(macs);
  const guest = together(named("images", guestImage), present("environment", GUEST_VARIABLES));
  return {
    runsInsideAnotherApp: anyFound(phone(guest)),
    trollStoreMarkFound: anyFound(phone(present("bundleFolder", TROLL_STORE_MARKS))),
  };
}
