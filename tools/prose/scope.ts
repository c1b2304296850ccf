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
  "tools/prose/{prose.test,terms}.ts", // Their strings hold words to avoid.
];
