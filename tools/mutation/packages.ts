/** Sources that `npm run mutation` changes, and the tests without a database that must notice. */
interface MutatedPackage {
  readonly sources: readonly string[];
  readonly tests: readonly string[];
}

const SERVER = "packages/server/src";
const SDK = "packages/react-native/src";

export const PACKAGES: Readonly<Record<string, MutatedPackage>> = {
  contract: {
    // The files of single probes are data, which tests compare with the contract's tables. The schemas are derived from
    // the rules.
    sources: [
      "packages/contract/src/{canonical,errors,limits,pointer,timestamp}.ts",
      "packages/contract/src/wire/*.ts",
      "packages/contract/src/catalog/{adopted,check,fields,numeric-consistency,place,vocabulary}.ts",
    ],
    tests: ["packages/contract/src/**/*.test.ts"],
  },
  "host-client": { sources: ["packages/host-client/src/*.ts"], tests: ["packages/host-client/src/*.test.ts"] },
  ingest: {
    sources: [`${SERVER}/{base/identifiers,ingest,base/json}/*.ts`],
    tests: [`${SERVER}/{base/identifiers,ingest,base/json}/*.test.ts`, "packages/scanner/src/scanner.test.ts"],
  },
  crypto: {
    sources: [
      `${SERVER}/store/crypto/{compression,data-keys,derive-key,directory-key-store,cached-keys,key-command,key-encryption,key-encryption-key,keys-of-text,pseudonymizer,rotation,sealer,secrets}.ts`,
    ],
    tests: [
      `${SERVER}/store/crypto/{compression,data-keys,directory-key-store,cached-keys,key-command,key-encryption-key,keys-of-text,rotation,sealer,secrets,stored-formats}.test.ts`,
    ],
  },
  policy: {
    sources: [`${SERVER}/purposes/{read-policy,period}.ts`],
    tests: [`${SERVER}/purposes/read-policy.test.ts`],
  },
  journal: {
    sources: [`${SERVER}/lifecycle/journal/{chain,entry-codec,directory-journal}.ts`],
    tests: [`${SERVER}/lifecycle/journal/{chain,directory-journal}.test.ts`],
  },
  classifiers: {
    sources: [`${SDK}/judgement/*.ts`],
    // The list leaves out hostile.test.ts, because it measures time and instrumented code is slower.
    tests: [`${SDK}/judgement/{corpus,declared-artefacts,finding,judgement,observed,readers,rules}.test.ts`],
  },
};

/** The package of this run. */
export const { sources, tests } = PACKAGES[process.env["MUTATED_PACKAGE"] ?? "contract"] as MutatedPackage;
