/**
 * Runs `allclear` with a wall clock that is wrong by the number of ms in a file: `bun allclear-at.ts FILE ARGUMENT…`.
 * SIGUSR2 makes it read the file again.
 */
import { readFileSync } from "node:fs";

const [file = ""] = process.argv.splice(2, 1);
const readOffset = () => Number(readFileSync(file, "utf8"));
const now = Date.now;
let offset = readOffset();
process.on("SIGUSR2", () => {
  offset = readOffset();
});
Date.now = () => now() + offset;
await import("../../../src/main");
