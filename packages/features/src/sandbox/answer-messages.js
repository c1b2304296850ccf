/** What the programs of processes share that import packages and answer messages of their parent. */
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const watchText = readFileSync(new URL("watch.js", import.meta.url), "utf8");
const watch = runInThisContext(watchText)(Number(process.argv.at(-1)));

/**
 * Answers each message of the parent, until the input ends. Messages and answers are JSON, one text a line.
 *
 * @param limitMsOf the milliseconds of processor time that the answer to a message may need. Then this process ends.
 */
export async function answerMessages(answerTo, limitMsOf) {
  // The parent waits for each answer, so a chunk ends at most one message.
  let chunks = [];
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    chunks.push(chunk);
    if (!chunk.endsWith("\n")) continue;
    const message = JSON.parse(chunks.join(""));
    chunks = [];
    watch.begin(limitMsOf(message));
    process.stdout.write(`${JSON.stringify(answerTo(message))}\n`);
    watch.rest();
  }
}
