import { Command } from "commander";
import { expect, it } from "vitest";
import { AdminRequestError } from "@device-risk-signals/admin-api";
import { OperatorError } from "../base/errors/operator-error.ts";
import { runProgram } from "./run-program.ts";

/** Returns what a program prints when it fails with the error. */
async function printed(error: unknown): Promise<string> {
  let text = "";
  const program = new Command("drs").configureOutput({ writeErr: (line) => (text += line) }).action(() => {
    throw error;
  });
  expect(await runProgram(program, [])).toBeGreaterThan(0);
  return text;
}

it("a failed command whose order was not confirmed prints the message about the order once, with the cause", async () => {
  const [cause, message] = ["The database is away.", "The database did not confirm the order."];
  const here = new OperatorError("order-unconfirmed", message, { cause: new Error(cause) });
  expect(await printed(here)).toBe(`${cause}\n${message}\n`);
  const answer = new AdminRequestError(500, { type: "", title: "", status: 500, detail: message });
  expect(await printed(new OperatorError("order-unconfirmed", message, { cause: answer }))).toBe(`${message}\n`);
});
