/** Opens the configured source of the key-encryption key. */
import type { Config, Environment } from "../../base/config/config.ts";
import type { Dependencies } from "../../base/dependencies/dependencies.ts";
import type { Bounded } from "../../base/dependencies/file-calls.ts";
import { boundedKeySource } from "./bounded-key-store.ts";
import { cacheKeys } from "./cached-keys.ts";
import { COMMAND_NAME, keysOfCommand } from "./key-command.ts";
import type { KeySource } from "./key-encryption.ts";
import { openLocalKeySource } from "./key-encryption-key.ts";
import { keysOfVault, vaultContext, vaultKey, type VaultOptions } from "./vault-transit.ts";

export interface KeySourceOptions {
  readonly config: Config;
  /** The variables of this process. */
  readonly environment: Environment;
  readonly dependencies: Dependencies;
  /** Runs a call to files within the deadline of the dependency. */
  readonly bounded: Bounded;
  /** Whether the key file in the key directory is made if it is missing and no source is configured. */
  readonly creates: boolean;
  /** The id of the installation. */
  readonly installation: string;
}

/** @throws key-file-unusable, key-source-unusable, Unavailable */
export async function openKeySource(options: KeySourceOptions): Promise<KeySource> {
  const { config, environment, dependencies, bounded, creates, installation } = options;
  const deadline = { ms: config.dependencyTimeoutMs, stop: dependencies.stopping };
  const { encryptionKeyCommand: command } = config.keys;
  if (command) {
    const load = (): Promise<readonly Buffer[]> => keysOfCommand(command, environment, deadline);
    return cacheKeys(load, { description: COMMAND_NAME, advice: COMMAND_ADVICE });
  }
  const vault = vaultOf(config.keys);
  if (vault) {
    return cacheKeys(() => keysOfVault(vault, installation, deadline), {
      description: `${vault.wrappedKeyFile}, unwrapped by Vault's Transit key ${vaultKey(vault)}`,
      advice: vaultAdvice(vault, installation),
    });
  }
  return boundedKeySource(await bounded(() => openLocalKeySource(config.keys, creates)), bounded);
}

function vaultOf({ vault }: Config["keys"]): VaultOptions | undefined {
  const { url, keyName, wrappedKeyFile, tokenFile } = vault;
  if (url === undefined || keyName === undefined || wrappedKeyFile === undefined || tokenFile === undefined) return;
  return { ...vault, url, keyName, wrappedKeyFile, tokenFile };
}

const NEXT_STEPS = "restart every server or send it SIGHUP, rotate again, then take the old one away";

const COMMAND_ADVICE = `the key-encryption key comes from ${COMMAND_NAME}: let it print a new key after the present one, ${NEXT_STEPS}`;

const vaultAdvice = (vault: VaultOptions, installation: string): string =>
  `the key-encryption key is wrapped by Vault: wrap a new one with the context ${vaultContext(installation)}, ` +
  `add it to ${vault.wrappedKeyFile} after the present one, ${NEXT_STEPS}`;
