import type { Ctx } from "../../src/context";
import type { Found } from "../../src/imports/found";
import { createMonitoring } from "../../src/features/monitors/engine/engine";
import type { Monitoring } from "../../src/features/monitors/monitoring";
import { createTestClock } from "./clock";
import { createImportSite } from "./import-site";

/** Starts checks that always succeed and open no connection. */
function startMonitoring(ctx: Ctx): Monitoring {
  const run = () => Promise.resolve({ outcome: "ok", latencyMs: 1, message: null } as const);
  const engine = createMonitoring(ctx, undefined, { findProbe: () => ({ run }) });
  engine.start();
  return engine;
}

/** Imports what was found into an application whose checks succeed. `now` is in unix ms. */
export async function importedSite(found: Found, now: number) {
  const site = await createImportSite({
    clock: createTestClock(now),
    monitoring: startMonitoring,
  });
  const report = await site.importFound(found);
  return Object.assign(site, { found, report });
}

/** Returns the names of fields with the types of their values; of a list those of its first entry. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const fields = Object.entries(value).map(([name, each]) => [name, shapeOf(each)]);
  return Object.fromEntries(fields) as object;
}

/** Lists the fields that a shape has and another has not, or with another type. Null and text may take turns. */
export function missingIn(shape: unknown, expected: unknown, path = ""): string[] {
  if (Array.isArray(expected)) {
    if (!Array.isArray(shape)) return [path];
    return expected.length > 0 && shape.length > 0
      ? missingIn(shape[0], expected[0], `${path}[]`)
      : [];
  }
  if (typeof expected !== "object" || expected === null) {
    const isSame = shape === expected || shape === "null" || expected === "null";
    return isSame ? [] : [`${path}: ${String(shape)} for ${String(expected)}`];
  }
  if (typeof shape !== "object" || shape === null) return [path];
  return Object.entries(expected).flatMap(([name, each]) => {
    const own = (shape as Record<string, unknown>)[name];
    return own === undefined ? [`${path}.${name}`] : missingIn(own, each, `${path}.${name}`);
  });
}
