/**
 * Imports two monitors with a history of 120 days into a data directory, at a time (unix ms), and prints a line for each
 * step of the history: `bun import-past.ts DATA_DIR NOW`.
 */
import { openForCommand } from "../../../src/installation";
import { testConfig } from "../app";
import { importPast } from "../past-source";
import { longFound } from "../long-past";

const [, , dataDir = "", now = "0"] = process.argv;
Date.now = () => Number(now);
const env = { ALLCLEAR_DATA_DIR: dataDir, ALLCLEAR_LOG_LEVEL: "silent" };
const { ctx, close } = openForCommand(testConfig(env), "import", { canCreate: true });
await importPast({ ctx }, longFound(Number(now)), {}, ({ rows }) => console.log(rows));
console.log("done");
close();
process.exit(0);
