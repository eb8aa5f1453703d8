import { cutName } from "../options";
import { type ForeignKey, type Found, keyOf, type LeftOut } from "../source";
import type { FoundConfig } from "./config";
import { type GatusDatabase, openGatusDatabase } from "./database";
import { GatusHistory, type HistorySource } from "./history";

/** Maximum number of rows that are read of endpoints and of suites, and of those that are named as left out. */
const ENDPOINTS_MAX = 100_000;
const NAMED_MAX = 1_000;

const KEY_MAX = 1_000;

const TYPES_BY_TABLE = {
  endpoint: { types: ["endpoint", "external-endpoint"] },
  suite: { types: ["suite"] },
} as const;

/** Adds the history in a database to a configuration. Throws an OperatorError for a file that is none of Gatus. */
export async function withHistory({ found, intervals }: FoundConfig, path: string): Promise<Found> {
  const database = await openGatusDatabase(path);
  try {
    const monitors = new Set(found.monitors.map(({ foreign }) => keyOf(foreign)));
    const sources = new Map<ForeignKey, HistorySource>();
    const leftOut: LeftOut[] = [];
    for (const table of ["endpoint", "suite"] as const) {
      for (const { id, key, name } of listKeys(database, table)) {
        const monitor = TYPES_BY_TABLE[table].types
          .map((type) => keyOf({ type, id: key }))
          .find((each) => monitors.has(each));
        if (monitor) {
          sources.set(monitor, { table, id, intervalMs: intervals.get(key) ?? 60_000 });
        } else if (leftOut.length < NAMED_MAX) {
          const foreign = { type: "history", id: cutName(key, "key", KEY_MAX), name };
          leftOut.push({ foreign, reason: `The configuration has no ${table} of this key.` });
        }
      }
    }
    return {
      ...found,
      history: new GatusHistory(database, sources),
      leftOut: [...found.leftOut, ...leftOut],
    };
  } catch (error) {
    database[Symbol.dispose]();
    throw error;
  }
}

/** Lists the endpoints or the suites of a database. */
function listKeys(database: GatusDatabase, table: "endpoint" | "suite") {
  if (table === "suite" && !database.hasSuites) return [];
  const short = (column: string) =>
    `CASE WHEN typeof(${column}) = 'text' THEN substr(${column}, 1, ${KEY_MAX}) ELSE '' END`;
  const rows = database.prepare<[number, string, string, string]>(
    `SELECT ${table}_id, ${[`${table}_key`, `${table}_name`, `${table}_group`].map(short).join(", ")}
     FROM ${table}s WHERE typeof(${table}_id) = 'integer' ORDER BY 1 LIMIT ${ENDPOINTS_MAX}`,
  );
  return rows().map(([id, key, name, group]) => ({
    id,
    key,
    name: cutName(group === "" ? name : `${group}/${name}`, "an endpoint"),
  }));
}
