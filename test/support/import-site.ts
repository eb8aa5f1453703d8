import { join } from "node:path";
import { CLI_ACTOR } from "../../src/base/actor";
import type { ImportItem, ImportReport } from "../../src/base/import-report";
import type { ImportOptions } from "../../src/imports/sources";
import { importFound, performImport } from "../../src/imports/import";
import { readHealthchecks } from "../../src/imports/healthchecks/read";
import { emptyFound, type Found } from "../../src/imports/found";
import { listStoredMonitors } from "../../src/features/monitors/declared";
import { createTestApp } from "./app";
import { temporaryFolder } from "./temporary-folder";

/** UUIDs of checks, which are secrets. */
export const UUIDS = [
  "31365bce-8da9-4729-8ff3-aaa71d56b712",
  "803f680d-e89b-492b-82ef-2be7b774a92d",
  "9b2f1c0a-5f7e-4d1b-9a55-0f4be2a6a001",
] as const;

/** A check as Healthchecks answers it, with other values in some fields; undefined leaves a field out. */
export function checkOf(
  uuid: string,
  fields: Record<string, unknown> = {},
): Record<string, unknown> {
  const api = `https://healthchecks.test/api/v3/checks/${uuid}`;
  return {
    uuid,
    name: "Nightly backup",
    slug: "nightly-backup",
    tags: "backup fs",
    desc: "Copies everything",
    grace: 600,
    n_pings: 7,
    status: "up",
    started: false,
    last_ping: "2026-03-24T14:02:03+00:00",
    next_ping: "2026-03-24T15:02:03+00:00",
    manual_resume: false,
    methods: "",
    subject: "",
    subject_fail: "",
    start_kw: "",
    success_kw: "",
    failure_kw: "",
    filter_subject: false,
    filter_body: false,
    filter_http_body: false,
    filter_default_fail: false,
    badge_url: "https://healthchecks.test/b/2/ad63ae2d-7c4b-4d3e-9f5a-1b2c3d4e5f60.svg",
    last_duration: 12,
    ping_url: `https://hc-ping.test/${uuid}`,
    update_url: api,
    pause_url: `${api}/pause`,
    resume_url: `${api}/resume`,
    channels: "",
    timeout: 3600,
    ...fields,
  };
}

/** Options of an import that a test does not set. */
const OPTIONS: ImportOptions = {
  source: "default",
  isDryRun: false,
  isPaused: false,
  only: undefined,
  historyDays: null,
  internalPage: "internal",
  takesDomains: false,
};

/** Creates an application into which checks are imported. */
export async function createImportSite(options: Parameters<typeof createTestApp>[0] = {}) {
  const app = await createTestApp(options);
  const folder = temporaryFolder();
  const file = join(folder.path, "checks.json");
  const importAll = (found: Found, options: Partial<ImportOptions>): Promise<ImportReport> =>
    app.ctx.db.write((tx) =>
      importFound(app.ctx, tx, found, { ...OPTIONS, ...options }, CLI_ACTOR),
    );
  return {
    app,
    /** Imports objects of a source. */
    importFound: (parts: Partial<Found>, options: Partial<ImportOptions> = {}) =>
      importAll({ ...emptyFound("uptime-kuma"), ...parts }, options),
    /** Imports objects of a source with the addresses of their receivers, as the command does. */
    perform: (parts: Partial<Found>, options: Partial<ImportOptions> = {}) => {
      const write = app.ctx.db.write.bind(app.ctx.db);
      const all = { ...OPTIONS, ...options };
      return performImport(
        app.ctx,
        write,
        { ...emptyFound("uptime-kuma"), ...parts },
        all,
        CLI_ACTOR,
      );
    },
    /** Plans the import of objects of a source, and rolls it back. */
    async plan(parts: Partial<Found>, options: Partial<ImportOptions> = {}) {
      const all = { ...OPTIONS, ...options, isDryRun: true };
      const plan = Promise.withResolvers<ImportReport>();
      const written = app.ctx.db.write((tx) => {
        plan.resolve(
          importFound(app.ctx, tx, { ...emptyFound("uptime-kuma"), ...parts }, all, CLI_ACTOR),
        );
        throw new Error("a plan is rolled back");
      });
      await written.catch(plan.reject);
      return plan.promise;
    },
    /** Imports checks as the command does. */
    async import(
      checks: readonly unknown[],
      options: Partial<ImportOptions> & { pingKey?: string; fingerprint?: string } = {},
    ): Promise<ImportReport> {
      await Bun.write(file, JSON.stringify({ checks }));
      const { pingKey, fingerprint = null, ...others } = options;
      const found = { ...(await readHealthchecks(file, { pingKey })), fingerprint };
      return importAll(found, others);
    },
    monitors: () => listStoredMonitors(app.ctx.db).map(({ row }) => row),
    async [Symbol.asyncDispose]() {
      folder[Symbol.dispose]();
      await app[Symbol.asyncDispose]();
    },
  };
}

/** Returns the items of a report about checks. */
export function checkItems({ items }: ImportReport): ImportItem[] {
  return items.filter(({ foreign }) => foreign.type === "check");
}

/** Returns the verdicts about checks, in their order. */
export function verdictsOf(report: ImportReport): string[] {
  return checkItems(report).map(({ verdict }) => verdict);
}
