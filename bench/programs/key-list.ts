/**
 * Reads what the screen of API keys shows from the data directory that it is given, again and again in
 * each way that the screen can be asked, and prints the 99th percentiles as JSON.
 */
import { loadConfig } from "../../src/base/config/load";
import { countKeys, listKeyPage } from "../../src/features/keys/records";
import { KEY_FILTERS } from "../../src/features/keys/rules";
import { openForCommand } from "../../src/installation";
import { atOnce } from "../../test/support/turns";
import { percentile } from "../support/figure";

/** 99th percentiles in milliseconds: a page of keys with its counts, by what was asked. */
export type KeyListCost = Record<string, number>;

const ROUNDS = 300;
/** Until the code is compiled and the file is in memory, as in a server that has run for a while. */
const REHEARSALS = 50;
const PAGE_SIZE = 50;

const loaded = loadConfig({ dataDir: process.argv[2] ?? "", logLevel: "warn" }, {});
if ("problems" in loaded) throw new Error(loaded.problems.join("\n"));
const installation = openForCommand(loaded.config, "bench", { canCreate: false });
const { db } = installation.ctx;

const now = Date.now();
const middle = atOnce(listKeyPage(db, { filter: "all", limit: 500, now })).nextBefore;
if (middle === null) throw new Error("there are too few keys to measure with");
const asked: Record<string, Partial<Parameters<typeof listKeyPage>[1]>> = {
  ...Object.fromEntries(KEY_FILTERS.map((filter) => [filter, { filter }])),
  "a page in the middle": { before: middle },
  "a search that finds many": { search: "bench" },
  "a search that finds nothing": { search: "no key is named like this" },
  "a search that finds many, by last use": { search: "bench", order: "-used" },
  "a search that finds nothing, by last use": {
    search: "no key is named like this",
    order: "-used",
  },
};

const cost: KeyListCost = {};
for (const [what, query] of Object.entries(asked)) {
  const spent: number[] = [];
  for (let round = -REHEARSALS; round < ROUNDS; round++) {
    const since = Bun.nanoseconds();
    atOnce(listKeyPage(db, { filter: "all", limit: PAGE_SIZE, now, ...query }));
    atOnce(countKeys(db, now));
    if (round >= 0) spent.push((Bun.nanoseconds() - since) / 1e6);
  }
  cost[what] = percentile(spent, 99);
}
installation.close();
process.stdout.write(JSON.stringify(cost));
