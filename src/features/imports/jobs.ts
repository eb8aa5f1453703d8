import type { Ctx } from "../../context";
import type { Actor } from "../../base/actor";
import type { ImportReport } from "../../base/import-report";
import type { ImportSource, OptionValues } from "../../base/import-sources";
import { conflict, notFound } from "../../base/errors";
import { encodeBase62 } from "../../base/hash";
import type { Timer } from "../../base/clock";
import { DAY_MS, HOUR_MS } from "../../base/time";
import { createImportFiles, type ImportFiles, withPlaceName } from "./files";
import { digestOf } from "./perform";
import { importInProcess } from "./process";
import type { ImportFailure, ImportResult, RunImport } from "./request";
import type { ImportOptions } from "./run";
import { IMPORT_RUNS } from "./words";

/** Times after which a process is ended. The history of a large source takes minutes. */
const PLAN_MAX_MS = HOUR_MS / 2;
const IMPORT_MAX_MS = DAY_MS;

/** Time after which a plan is forgotten, with its file and its secrets. */
const KEPT_MS = DAY_MS;

/** `planning` → `planned` → `importing` → `done`; `failed` after both that run. */
export type JobState = "planning" | "planned" | "importing" | "done" | "failed";

/** Place of a source: an uploaded file, an offered file by its path, or an address. */
export type JobPlace = { name: string } & (
  { bytes: Uint8Array } | { path: string } | { url: string }
);

/** Source and options that a user chose. `values` may hold secrets, which are kept until the import has ended. */
export interface JobRequest {
  source: ImportSource;
  place: JobPlace;
  values: OptionValues;
  options: Omit<ImportOptions, "isDryRun">;
}

/** One import of the dashboard, from its plan to its end. Kept in memory only. */
export interface ImportJob {
  readonly id: string;
  readonly source: ImportSource;
  /** Name of the file, or the host of the address. */
  readonly place: string;
  readonly options: JobRequest["options"];
  /** Name of the user. */
  readonly by: string;
  /** Unix ms. */
  readonly startedAt: number;
  state: JobState;
  /** Progress of the work, in words. */
  progress: string | undefined;
  /** The plan, then the report. */
  report: ImportReport | undefined;
  failure: ImportFailure | undefined;
}

/** Imports of the dashboard, one at a time. */
export interface ImportJobs {
  readonly files: Omit<ImportFiles, "store" | "remove" | "sweep">;
  /** The last import, as long as it is kept. */
  current(): ImportJob | undefined;
  find(id: string): ImportJob | undefined;
  /**
   * Begins to plan an import, in the place of one that is not running. `settled` resolves once the plan is made. Throws
   * `conflict` while another import runs.
   */
  plan(request: JobRequest, author: Actor): Promise<{ job: ImportJob; settled: Promise<void> }>;
  /** Begins an import that was planned. Throws `not_found`, and `conflict` unless it is planned. */
  start(id: string, author: Actor): { job: ImportJob; settled: Promise<void> };
  /** Forgets an import, unless it is being written. Throws `not_found` and `conflict`. */
  discard(id: string): Promise<void>;
  /** Removes the files that an earlier process left. */
  sweep(): Promise<void>;
  /** Ends the import that is running. */
  stop(): void;
}

interface JobsOptions {
  run?: RunImport;
  /** Returns the data directory. */
  directory?: () => string;
}

/** Import with what it needs until its end. */
interface Running {
  job: ImportJob;
  /** Values of the importer's options, with secrets. */
  values: OptionValues;
  /** Path or address. */
  place: string;
  /** True for a file that is removed at the end. */
  isUpload: boolean;
  ended: AbortController;
  expiry: Timer;
}

/** Creates the imports of the dashboard. */
export function createImportJobs(
  ctx: Ctx,
  { run = importInProcess(ctx), directory }: JobsOptions = {},
): ImportJobs {
  const files = createImportFiles(ctx, directory);
  const { clock, log, random } = ctx;
  let current: Running | undefined;

  const isRunning = (state: JobState) => state === "planning" || state === "importing";

  function requireIdle(): void {
    if (current && isRunning(current.job.state)) throw conflict(IMPORT_RUNS);
  }

  function get(id: string): Running {
    if (current?.job.id !== id) throw notFound("import");
    return current;
  }

  /** Removes the file of an import and its secrets. */
  async function clear(running: Running): Promise<void> {
    running.values = {};
    if (running.isUpload) await files.remove(running.place);
  }

  async function forget(running: Running): Promise<void> {
    running.ended.abort();
    running.expiry.cancel();
    if (current === running) current = undefined;
    await clear(running);
  }

  /** Runs the dry run, or the import. Resolves at its end; never rejects. */
  async function work(running: Running, isDryRun: boolean, author: Actor): Promise<void> {
    const { job, place, ended, values } = running;
    const { source, options } = job;
    const limit = new AbortController();
    const timer = clock.after(isDryRun ? PLAN_MAX_MS : IMPORT_MAX_MS, () => limit.abort());
    const result = await run(
      {
        kind: source.kind,
        place,
        placeName: job.place,
        values,
        options: { ...options, isDryRun, ...(job.report && { planned: digestOf(job.report) }) },
        author,
      },
      (text) => (job.progress = text),
      AbortSignal.any([ended.signal, limit.signal]),
    ).catch((error: unknown): ImportResult => {
      log.error({ err: error }, "an import broke off");
      return { failure: { message: "It broke off. The server's log has the reason.", fields: [] } };
    });
    timer.cancel();
    job.progress = undefined;
    if ("report" in result) {
      job.report = result.report;
      job.state = isDryRun ? "planned" : "done";
    } else {
      const message = limit.signal.aborted ? "It took too long." : result.failure.message;
      job.failure = { ...result.failure, message: withPlaceName(message, place, job.place) };
      job.state = "failed";
    }
    if (job.state !== "planned") await clear(running);
  }

  return {
    files,
    current: () => current?.job,
    find: (id) => (current?.job.id === id ? current.job : undefined),

    async plan({ source, place, values, options }, author) {
      requireIdle();
      const before = current;
      const job: ImportJob = {
        id: encodeBase62(random(16), 22),
        source,
        place: place.name,
        options,
        by: author.label,
        startedAt: clock.now(),
        state: "planning",
        progress: undefined,
        report: undefined,
        failure: undefined,
      };
      const running: Running = {
        job,
        values,
        place: "url" in place ? place.url : "path" in place ? place.path : "",
        isUpload: false,
        ended: new AbortController(),
        expiry: clock.after(KEPT_MS, () => void expire(running)),
      };
      // Taken before anything is awaited, so that a second one is refused.
      current = running;
      try {
        if (before) await forget(before);
        if ("bytes" in place) {
          running.place = await files.store(place.bytes, place.name);
          running.isUpload = true;
        }
      } catch (error) {
        await forget(running);
        throw error;
      }
      return { job, settled: work(running, true, author) };
    },

    start(id, author) {
      const running = get(id);
      if (running.job.state !== "planned") throw conflict(unstartable(running.job));
      running.job.state = "importing";
      return { job: running.job, settled: work(running, false, author) };
    },

    async discard(id) {
      const running = get(id);
      if (running.job.state === "importing") {
        throw conflict("The import is being written and cannot be discarded.");
      }
      await forget(running);
    },

    sweep: files.sweep,
    stop: () => current?.ended.abort(),
  };

  /** Deletes a job at the end of its time. A running one gets more time. */
  async function expire(running: Running): Promise<void> {
    if (isRunning(running.job.state))
      running.expiry = clock.after(KEPT_MS, () => void expire(running));
    else await forget(running);
  }
}

function unstartable({ state }: ImportJob): string {
  if (state === "planning") return "The plan is not ready yet.";
  if (state === "importing") return IMPORT_RUNS;
  return state === "done" ? "It was imported already." : "The plan failed. Make a new one.";
}
