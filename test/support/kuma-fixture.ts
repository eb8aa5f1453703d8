import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Found, FoundMonitor } from "../../src/imports/found";
import { readUptimeKuma } from "../../src/imports/uptime-kuma/read";
import { temporaryFolder } from "./temporary-folder";

const FIXTURES = join(import.meta.dir, "../imports/fixtures/uptime-kuma");

/** Versions whose databases are fixtures; `json` is the backup of 1.23.17. */
export const KUMA_VERSIONS = ["2.5.3", "1.23.17"] as const;
export type KumaVersion = (typeof KUMA_VERSIONS)[number];

/** Writes the database of an Uptime Kuma into a new data directory, or its backup into a file. */
export function kumaFolder(version: KumaVersion, kind: "db" | "json" = "db") {
  const folder = temporaryFolder();
  const packed = readFileSync(join(FIXTURES, `${version}.${kind}.gz`));
  const path = join(folder.path, kind === "db" ? "kuma.db" : "backup.json");
  writeFileSync(path, Bun.gunzipSync(packed));
  return {
    path: kind === "db" ? folder.path : path,
    database: path,
    /** Writes a picture of a status page, as its dashboard does. */
    writePicture(name: string, bytes: Uint8Array) {
      const pictures = join(folder.path, "upload");
      if (!existsSync(pictures)) mkdirSync(pictures);
      writeFileSync(join(pictures, name), bytes);
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** Reads a fixture. */
export async function readFixture(version: KumaVersion, kind?: "db" | "json"): Promise<Found> {
  using folder = kumaFolder(version, kind);
  return await readUptimeKuma(folder.path);
}

/** Returns the answer of that version to GET /api/status-page/acme. */
// Tests read answers freely.
// oxlint-disable-next-line typescript/no-explicit-any
export function pageOfFixture(version: KumaVersion): any {
  const packed = readFileSync(join(FIXTURES, `${version}.page.json.gz`));
  return JSON.parse(Buffer.from(Bun.gunzipSync(packed)).toString());
}

/** Returns the monitor of a name. */
export function monitorNamed({ monitors }: Found, name: string): FoundMonitor {
  const found = monitors.find(({ body }) => body.name === name);
  if (!found) throw new Error(`there is no monitor ${name}`);
  return found;
}

/** Returns all strings in a value. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
