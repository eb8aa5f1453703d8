import { type Command, JSON_FLAG, UsageError } from "./command";
import { printJson } from "./print";
import { untilSignal } from "./process";

const SEED_MAX = 2 ** 32 - 1;
/** Signals that end the demo. The last one comes when its terminal is closed. */
const END_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export const demoCommand: Command = {
  name: "demo",
  summary: "Serve a year of sample data with simulated checks. Nothing leaves the process.",
  flags: [
    {
      name: "seed",
      placeholder: "N",
      help: "Number on which the data depends, default 1. Equal seeds give equal data on one day.",
    },
    {
      name: "keep",
      placeholder: "DIR",
      help: "Empty or new directory for the data. By default it is deleted at the end.",
    },
    { ...JSON_FLAG, help: "Print address, sign-in and keys as JSON." },
  ],
  options: ["listen", "logLevel", "baseUrl"],
  async run({ config, value, isSet, output }) {
    // Later signals are ignored: the temporary folder is deleted at the end of the stop.
    const stopRequested = untilSignal(END_SIGNALS).first;
    const seed = readSeed(value("seed"));
    const keep = value("keep");
    if (keep === "") throw new UsageError(["--keep must name a directory."]);
    const isQuiet = config.sources.logLevel === "default";
    const { listen, baseUrl } = config;
    const logLevel = isQuiet ? "warn" : config.logLevel;
    // Loaded here, since no other command needs it.
    const { startDemo } = await import("../demo/demo");
    const demo = await startDemo({ seed, keep, config: { listen, logLevel, baseUrl } });
    const { url, email, password, keys, folder } = demo;
    const facts = [
      ["Dashboard", `${url}/admin`],
      ["E-mail", email],
      ["Password", password],
      ...Object.entries(keys).map(([scope, key]) => [`Key for ${scope}`, key]),
      keep === undefined ? ["Deleted at the end", folder] : ["Kept in", folder],
    ];
    try {
      output.err(`The demo is ready. Open ${url}`);
      if (isSet("json")) printJson(output, { url, email, password, keys, folder, seed });
      else for (const [label = "", fact] of facts) output.err(`  ${label.padEnd(26)}${fact}`);
      await stopRequested;
    } finally {
      await demo.stop();
    }
    return 0;
  },
};

function readSeed(text = "1"): number {
  const seed = Number(text);
  if (/^\d+$/.test(text) && seed <= SEED_MAX) return seed;
  throw new UsageError([`--seed must be a whole number from 0 to ${SEED_MAX}; it is "${text}".`]);
}
