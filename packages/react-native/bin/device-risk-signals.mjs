#!/usr/bin/env node
import { main } from "@device-risk-signals/react-native/cli";

process.exitCode = await main(
  process.argv.slice(2),
  process.cwd(),
  (text) => process.stdout.write(text),
  (text) => process.stderr.write(text),
);
