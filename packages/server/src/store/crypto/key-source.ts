/** Opens the configured source of the key-encryption key. */
import type { Config, Environment } from "../../base/config/config.ts";
import type { Dependencies } from "../../base/dependencies/dependencies.ts";
import type { Bounded } from "../../base/dependencies/file-calls.ts";
import { boundedKeySource } from "./bounded-key-store.ts";
import { cacheKeys } from "./cached-keys.ts";
import { COMMAND_NAME, keysOfCommand } from "./key-command.ts";
import type { KeySource } from "./key-encryption.ts";
import { openLocalKeySource } from "./key-encryption-key.ts";

export interface KeySourceOptions {
  readonly config: Config;
  /** The variables of this process. */
  readonly environment: Environment;
  readonly dependencies: Dependencies;
  /** Runs a call to files within the deadline of the dependency. */
  readonly bounded: Bounded;
  /** Whether the key file in the key directory is made if it is missing and no source is configured. */
  readonly creates: boolean;
}

/** @throws key-file-unusable, key-source-unusable, Unavailable */
export async function openKeySource(options: KeySourceOptions): Promise<KeySource> {
  const { config, environment, dependencies, bounded, creates } = options;
  const deadline = { ms: config.dependencyTimeoutMs, stop: dependencies.stopping };
  const { encryptionKeyCommand: command } = config.keys;
  if (command) {
    const load = (): Promise<readonly Buffer[]> => keysOfCommand(command, environment, deadline);
    return cacheKeys(load, { description: COMMAND_NAME, advice: COMMAND_ADVICE });
  }
  return boundedKeySource(await bounded(() => openLocalKeySource(config.keys, creates)), bounded);
}

const COMMAND_ADVICE =
  `the key-encryption key comes from ${COMMAND_NAME}: let it print a new key after the present one, ` +
  "restart every server or send it SIGHUP, rotate again, then take the old one away";
