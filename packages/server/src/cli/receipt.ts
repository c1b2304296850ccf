import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Command } from "commander";
import { OperatorError } from "../base/errors/operator-error.ts";
import { type Context, loadConfig, print, printJson, printText } from "./context.ts";
import { example } from "./options.ts";
import { routeCommand } from "./route-command.ts";

export function receiptCommand(context: Context): Command {
  const command = new Command("receipt").addHelpText(
    "after",
    example("drs receipt verify receipt.jws --public-key receipts.pem"),
  );

  command
    .command("verify")
    .description("Check who signed a receipt, and print what it says. It is a statement, not a proof.")
    .argument("<file>", "the receipt")
    .requiredOption("--public-key <file>", "the key that must have signed it, in PEM or as a JWK")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs receipt verify receipt.jws --public-key receipts.pem"))
    .action(async (file: string, { publicKey, json = false }: { publicKey: string; json?: boolean }) => {
      loadConfig(context);
      const { verifyReceipt } = await import("../lifecycle/receipts/receipt-signer.ts");
      const said = await verifyReceipt(await textOf(context, file), await textOf(context, publicKey));
      if (json) return printJson(context, said);
      print(context, "The signature is good. The receipt says:");
      printJson(context, said);
    });

  command.addCommand(
    routeCommand(context, {
      name: "key",
      route: "readReceiptKey",
      help: "Print the public key that verifies this installation's receipts, in PEM.",
      examples: ["drs receipt key > receipts.pem"],
      show: ({ public_key }) => printText(context, public_key.trimEnd()),
    }),
  );

  command.addCommand(
    routeCommand(context, {
      name: "get",
      route: "readReceipt",
      help: "Print the receipt of an erasure or a retention pass.",
      argument: ["id", "erasure_id or run_id, as the lists show it"],
      json: ({ receipt }) => ({ receipt }),
      examples: ["drs receipt get 5f0c2b9e-… > receipt.jws"],
      lines: ({ receipt }) => receipt,
    }),
  );
  return command;
}

async function textOf({ directory }: Context, file: string): Promise<string> {
  const path = resolve(directory, file);
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError("input-invalid", `${path} can't be read (${error.code})`);
  });
}
