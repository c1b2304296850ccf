import { Type } from "typebox";
import { GOVERNANCE_CHANGE, type Route } from "../route.ts";
import { count, dryRun, nonEmptyText, object, reason, shape, shownText } from "../schemas.ts";

const TAG = "Keys";

export const KEY_ROUTES = {
  listKeys: {
    method: "GET",
    path: "/keys",
    tag: TAG,
    summary: "List versions of the key-encryption key, and how many secrets each wraps",
    permission: "governance.read",
    operation: "key.list",
    access: "read",
    answer: object({
      versions: Type.Array(
        shape("KeyVersion", {
          version: shownText(),
          current: Type.Boolean({ description: "Whether new secrets are wrapped under it." }),
          secrets: count("Secrets that are wrapped under it."),
          known: Type.Boolean({
            description: "Whether the server has the key; without it those secrets can't be opened.",
          }),
        }),
      ),
    }),
  },
  rotateKeys: {
    method: "POST",
    path: "/keys/rotate",
    tag: TAG,
    summary: "Wrap every secret under a new version; events are not touched",
    permission: "maintenance.run",
    operation: "key.rotate",
    access: "change",
    appliedBy: "worker",
    isRepeatable: true,
    body: object({ dry_run: dryRun }),
    answer: object({
      version: shownText("The version that wraps new secrets."),
      secrets: count("Secrets that were wrapped again."),
    }),
    problems: ["state-conflict"],
  },
  destroyKey: {
    ...GOVERNANCE_CHANGE,
    tag: TAG,
    permission: "keys.destroy",
    path: "/keys/{version}/destroy",
    summary: "Destroy a version that wraps no secret; backups made under it can't be opened",
    description:
      "Secrets that it wraps in backups of the key store can't be opened any more. It needs an approval by privacy.",
    operation: "key.destroy",
    breakGlass: true,
    recentSignIn: true,
    params: object({ version: nonEmptyText(256, "Version, as the list shows it.") }),
    body: object({ dry_run: dryRun }),
    answer: object({ version: shownText() }),
    problems: ["not-found", "state-conflict"],
  },
  acceptKeyLoss: {
    ...GOVERNANCE_CHANGE,
    tag: TAG,
    path: "/keys/accept-loss",
    summary: "Accept that secrets which the key store lacks are permanently lost",
    operation: "key.accept-loss",
    body: object({ reason, dry_run: dryRun }),
    answer: object({
      events: count("Events that can't be opened."),
      accounts: count("Accounts that have some of them."),
      partitions: count("Partitions of which no event can be opened."),
      copies: count("Copies of held events that can't be opened."),
    }),
    problems: ["state-conflict"],
  },
} as const satisfies Readonly<Record<string, Route>>;
