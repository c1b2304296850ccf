/** The sources that `npm run mutation` mutates, and the tests without a database that must detect the mutants. */
export interface MutatedPackage {
  readonly name: string;
  /** Globs of sources, from the root of the repository. A glob with `!` excludes files. */
  readonly sources: readonly string[];
  readonly tests: readonly string[];
}

const NO_CODE = ["!**/*.test.ts", "!**/*.fixture.ts", "!**/*.contract.ts"];
const SERVER = "packages/server/src";
const SDK = "packages/react-native/src";

export const PACKAGES: readonly MutatedPackage[] = [
  {
    name: "contract",
    // The files of single probes are data, which tests compare with the contract's tables. The schemas are derived from
    // the rules.
    sources: [
      "packages/contract/src/{canonical,errors,limits,pointer,timestamp}.ts",
      "packages/contract/src/wire/*.ts",
      "packages/contract/src/catalog/{adopted,check,fields,numeric-consistency,place,vocabulary}.ts",
      ...NO_CODE,
    ],
    tests: ["packages/contract/src/**/*.test.ts"],
  },
  {
    name: "host-client",
    sources: ["packages/host-client/src/*.ts", ...NO_CODE],
    tests: ["packages/host-client/src/*.test.ts"],
  },
  {
    name: "ingest",
    sources: [`${SERVER}/{base/identifiers,ingest,base/json}/*.ts`, ...NO_CODE],
    tests: [`${SERVER}/{base/identifiers,ingest,base/json}/*.test.ts`, "packages/scanner/src/scanner.test.ts"],
  },
  {
    name: "crypto",
    sources: [
      `${SERVER}/store/crypto/{compression,data-keys,derive-key,directory-key-store,cached-keys,key-command,key-encryption,key-encryption-key,keys-of-text,pseudonymizer,rotation,sealer,secrets}.ts`,
    ],
    tests: [
      `${SERVER}/store/crypto/{compression,data-keys,directory-key-store,cached-keys,key-command,key-encryption-key,keys-of-text,rotation,sealer,secrets,stored-formats}.test.ts`,
    ],
  },
  {
    name: "policy",
    sources: [`${SERVER}/purposes/{read-policy,period}.ts`],
    tests: [`${SERVER}/purposes/read-policy.test.ts`],
  },
  {
    name: "journal",
    sources: [`${SERVER}/lifecycle/journal/{chain,entry-codec,directory-journal}.ts`],
    tests: [`${SERVER}/lifecycle/journal/{chain,directory-journal}.test.ts`],
  },
  {
    name: "classifiers",
    sources: [`${SDK}/judgement/*.ts`, ...NO_CODE],
    // The list leaves out hostile.test.ts, because it measures time and instrumented code is slower.
    tests: [`${SDK}/judgement/{corpus,declared-artefacts,finding,judgement,observed,readers,rules}.test.ts`],
  },
];

export function packageNamed(name: string): MutatedPackage {
  const found = PACKAGES.find((one) => one.name === name);
  if (!found)
    throw new TypeError(`no such package: "${name}"; there are ${PACKAGES.map((one) => one.name).join(", ")}`);
  return found;
}
