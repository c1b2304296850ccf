import { OperatorError } from "../errors/operator-error.ts";
import { type Config, type Environment, readConfig } from "./config.ts";

/** @throws configuration-invalid that names every problem. */
export function configFromEnvironment(environment: Environment, directory: string): Config {
  const result = readConfig(environment, directory);
  if (result.ok) return result.config;
  throw invalidConfiguration(result.problems);
}

export function invalidConfiguration(problems: readonly string[]): OperatorError {
  const lines = problems.map((problem) => `  ${problem}`);
  return new OperatorError("configuration-invalid", ["The configuration is not valid:", ...lines].join("\n"));
}
