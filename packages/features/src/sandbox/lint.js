/**
 * The main program of the process that lints programs, which it does not run. A text that nests deeply ends the process,
 * because the parser is native code and recursive.
 */
import { answerMessages } from "./answer-messages.js";

// The file is TypeScript in the repository, and JavaScript in the published package.
const { lintText } = await import(process.argv.at(-2));

await answerMessages(
  ({ text }) => ({ findings: lintText(text) }),
  ({ deadlineMs }) => deadlineMs,
);
