/** The texts and sources that are checked. */
export const INCLUDED = [
  "*.{md,ts,yaml}",
  ".{changeset,github}/**/*.{md,yml}",
  "{docs,bench,deploy,e2e,examples,packages,tools,website}/**/*.{md,ts,tsx,js,mjs,mts,kt,java,c,cpp,h,mm,sql,py,sh,yaml,yml}",
  "website/.vitepress/**/*.{ts,mts}",
];

export const EXCLUDED = [
  "**/node_modules/**",
  "{bench,examples,packages,tools,website}/**/{dist,build,target}/**", // Output of builds.
  "packages/react-native/generated/**", // Written by React Native's codegen.
  "website/.pages/**", // Copies of docs.
  "tools/prose/{prose.test,terms}.ts", // Their strings contain words to avoid.
];
