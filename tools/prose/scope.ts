/** Every text and every source that is written by hand. */
export const INCLUDED = [
  "*.{md,ts,yaml}",
  ".{changeset,github}/**/*.{md,yml}",
  "{docs,bench,deploy,e2e,examples,packages,tools,website}/**/*.{md,ts,tsx,js,mjs,mts,kt,java,c,cpp,h,mm,sql,py,sh,yaml,yml}",
  "website/.vitepress/**/*.{ts,mts}",
];

export const EXCLUDED = [
  "**/node_modules/**",
  "{bench,examples,packages,tools,website}/**/{dist,build,target}/**", // What builds leave behind.
  "packages/react-native/generated/**", // React Native's codegen writes it.
  "website/.pages/**", // Copies of docs.
  "tools/prose/{prose.test,terms}.ts", // Their strings hold words to avoid.
];
