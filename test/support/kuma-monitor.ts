import type { FoundMonitor } from "../../src/imports/found";
import { type KumaValue, readData } from "../../src/imports/uptime-kuma/database";
import { findInData } from "../../src/imports/uptime-kuma/read";

type Rows = Readonly<Record<string, readonly Readonly<Record<string, KumaValue>>[]>>;

/** Columns of a new monitor that are not empty there. */
export const NEW_MONITOR = {
  id: 1,
  name: "Shop",
  type: "http",
  active: 1,
  interval: 60,
  retry_interval: 60,
  timeout: 48,
  maxredirects: 10,
  method: "GET",
  url: "https://shop.test/",
  accepted_statuscodes_json: '["200-299"]',
  packet_size: 56,
  ping_count: 1,
  ping_numeric: 1,
  ping_per_request_timeout: 2,
  conditions: "[]",
} as const;

/** Reads tables of an Uptime Kuma; those and the columns that are left out are empty. */
export function findInRows(tables: Rows) {
  const data = readData((table, columns) =>
    (tables[table] ?? []).map((row) =>
      Object.fromEntries(columns.map((column) => [column, row[column] ?? null])),
    ),
  );
  return findInData(data, { readPicture: () => undefined, isDefined: () => false });
}

/** Reads one monitor with other values in some columns. */
export function findOneMonitor(columns: Readonly<Record<string, KumaValue>>): FoundMonitor {
  const [monitor] = findInRows({ monitor: [{ ...NEW_MONITOR, ...columns }] }).monitors;
  if (!monitor) throw new Error("there is no monitor");
  return monitor;
}
