/** Every text and every source that is written by hand. */
export const INCLUDED = [
  "*.md",
  "{docs,bench,deploy,e2e,examples,packages,tools,website}/**/*.{md,ts,tsx,js,mjs,kt,h,mm,sql}",
];

export const EXCLUDED = [
  "**/node_modules/**",
  "**/dist/**",
  "**/generated/**",
  "**/build/**",
  "website/.pages/**",
  "tools/prose/*.test.ts", // Its strings hold comments with words to avoid.
];

/**
 * Folders and files whose comments still have findings; `npm run lint:prose -- --pending` counts them. Pages are always
 * checked.
 */
export const PENDING: readonly string[] = [
  "packages/server/src/accounts",
  "packages/server/src/actions",
  "packages/server/src/adopted-fields",
  "packages/server/src/app",
  "packages/server/src/audit",
  "packages/server/src/cli",
  "packages/server/src/config",
  "packages/server/src/crypto",
  "packages/server/src/dependencies",
  "packages/server/src/diagnostics",
  "packages/server/src/drift",
  "packages/server/src/embedded-postgres",
  "packages/server/src/events",
  "packages/server/src/files",
  "packages/server/src/http",
  "packages/server/src/ingest",
  "packages/server/src/journal",
  "packages/server/src/lifecycle",
  "packages/server/src/main.ts",
  "packages/server/src/messages",
  "packages/server/src/policy",
  "packages/server/src/ports.ts",
  "packages/server/src/postgres",
  "packages/server/src/sessions",
  "packages/server/src/subject-requests",
];
