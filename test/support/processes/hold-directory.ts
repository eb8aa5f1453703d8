/**
 * Claims a data directory as COMMAND and holds it until it is killed or its input ends. Each line
 * that it is sent makes it collect its garbage: `bun hold-directory.ts DIRECTORY COMMAND`.
 */
import { lockOrExplain, openDataDirectory } from "../../../src/db/data-directory";

const [, , path = "", command = ""] = process.argv;
const lock = claim();
console.log(lock ? "held" : "refused");

for await (const _line of console) {
  for (let round = 0; round < 5; round++) Bun.gc(true);
  console.log("collected");
}
lock?.release();

function claim() {
  try {
    return lockOrExplain(openDataDirectory(path), command);
  } catch (error) {
    console.log((error as Error).message.replaceAll("\n", " "));
    return undefined;
  }
}
