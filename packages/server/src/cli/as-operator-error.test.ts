import { expect, it } from "vitest";
import { AdminRequestError } from "@device-risk-signals/admin-api";
import { OperatorError } from "../base/errors/operator-error.ts";
import { asOperatorError } from "./as-operator-error.ts";

it("a failed command whose order was not confirmed prints the message about the order once, with the cause", () => {
  const [cause, message] = ["The database is away.", "The database did not confirm the order."];
  const here = new OperatorError("order-unconfirmed", message, { cause: new Error(cause) });
  expect(asOperatorError(here).message).toBe(`${cause}\n${message}`);
  const answer = new AdminRequestError(500, { type: "", title: "", status: 500, detail: message });
  expect(asOperatorError(new OperatorError("order-unconfirmed", message, { cause: answer })).message).toBe(message);
});
