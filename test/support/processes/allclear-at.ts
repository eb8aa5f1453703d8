/** Runs `allclear` with a wall clock that is wrong by a number of ms: `bun allclear-at.ts OFFSET ARGUMENT…`. */
const [offset = "0"] = process.argv.splice(2, 1);
const now = Date.now;
Date.now = () => now() + Number(offset);
await import("../../../src/main");

export {};
