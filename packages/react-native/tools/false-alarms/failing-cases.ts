/** Prints the names of the cases that fail, as JSON. Run in a copy, by the test of the false alarms. */
import { departures } from "../../evidence/check.ts";
import { readCorpus } from "../../evidence/read.ts";

const failing = [...readCorpus().values()].filter((subject) => departures(subject).length > 0);
process.stdout.write(JSON.stringify(failing.map(({ name }) => name)));
