import type { Answer } from "@device-risk-signals/admin-api";
import { Command } from "commander";
import { call } from "./call.ts";
import { type Context, printJson, printRows } from "./context.ts";
import { count, example, uuid } from "./options.ts";
import { type PageOptions, printList } from "./pages.ts";

type Order = Answer<"listOrders">["orders"][number];

const columnsOf = ({ order_id, operation, state, requested_by, requested_at, progress }: Order) => {
  return { order_id, operation, state, requested_by, requested_at, progress };
};

export function orderCommand(context: Context): Command {
  const command = new Command("order")
    .description("Orders of the admin API that a worker applies. Shown for a day after their end.")
    .addHelpText("after", example("drs order list"));
  command
    .command("list")
    .description("List orders, newest first.")
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 0)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs order list"))
    .action((page: PageOptions) =>
      printList(
        context,
        async (call, position) => {
          const { orders, next } = await call("listOrders", position);
          return { rows: page.json ? orders : orders.map(columnsOf), next };
        },
        page,
        "No orders.",
      ),
    );
  command
    .command("show")
    .description("Show the state and progress of an order and, when it has ended, its answer.")
    .argument("<order-id>", "as `list` shows it", uuid)
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs order show 5f0c2b9e-…"))
    .action(async (orderId: string, { json = false }: { readonly json?: boolean }) => {
      const order = await call(context, "readOrder", { order_id: orderId });
      if (json) return printJson(context, order);
      const rows = Object.entries(order).map(([member, value]) => ({ member, value }));
      printRows(context, rows, false, "");
    });
  return command;
}
