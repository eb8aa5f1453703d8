import { readFileSync } from "node:fs";
import { lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { extname, isAbsolute, join, resolve } from "node:path";
import type { Actor } from "../base/actor";
import type { Timer } from "../base/clock";
import { writeConfig } from "../base/config/load";
import { conflict, type FieldError, notFound, unavailable } from "../base/errors";
import { encodeBase62 } from "../base/hash";
import { digestOf, type ImportKind, type ImportReport } from "../base/import-report";
import { environmentWithoutSettings, IMPORT_COMMAND, ownProgram } from "../base/own-program";
import { parseJson } from "../base/text";
import { DAY_MS, HOUR_MS } from "../base/time";
import type { Ctx } from "../context";
import type { ImportOptions, ImportSource, OptionValues } from "./sources";

/** Times after which a process is ended. The history of a large source takes minutes. */
const PLAN_MAX_MS = HOUR_MS / 2;

const IMPORT_MAX_MS = DAY_MS;

/** Time after which a plan is forgotten, with its file and its secrets. */
const KEPT_MS = DAY_MS;

/** `planning` → `planned` → `importing` → `done`; `failed` after both that run. */
type JobState = "planning" | "planned" | "importing" | "done" | "failed";

/** Place of a source: an uploaded file, an offered file by its path, or an address. */
export type JobPlace = { name: string } & (
  { bytes: Uint8Array } | { path: string } | { url: string }
);

/** Source and options that a user chose. `values` may hold secrets, which are kept until the import has ended. */
interface JobRequest {
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

/** Maximum size of an answer, in bytes. A report of 5,000 objects has about 2 MB. */
const ANSWER_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Memory by which the runtime collects garbage, and maximum of a process, in bytes. A configuration of 12,000 endpoints
 * needs 340 MB.
 */
const COLLECTED_BYTES = 256 * 1024 * 1024;

const MEMORY_MAX_BYTES = 448 * 1024 * 1024;

/** Time between two looks at the memory of a process, in ms. It can grow by 10 MB in this time. */
const LOOK_MS = 50;

const BROKEN_OFF = "The import broke off. The server's log has the reason.";

function tooLarge(bytes: number): string {
  return `The import was ended, since it needed more than ${bytes / 1024 / 1024} MiB of memory. Import the source in parts, or with the command “allclear import” on the server.`;
}

/** Returns the result of a process that ended without one. */
function brokenOff({ options }: ImportRequest, reason = BROKEN_OFF): ImportResult {
  const left = options.isDryRun
    ? ""
    : " If it is among the earlier imports, all but the history was imported: import again to go on with it.";
  return { failure: { message: `${reason}${left}`, fields: [] } };
}

/**
 * Returns a function that imports in another process of this program, beside the server. The transaction
 * of a file of 768 KiB with 814 checks takes 250 ms, longer than a turn of the event loop may, and files come from other
 * people: a process of its own delays no request, can be killed at any moment, and gives its memory back. The request goes through standard input, since
 * every process can read arguments.
 */
export function importInProcess(ctx: Ctx, memoryMaxBytes = MEMORY_MAX_BYTES): RunImport {
  return async (request, progress, signal) => {
    if (signal.aborted) return brokenOff(request);
    const { clock, config, log } = ctx;
    const child = Bun.spawn([...ownProgram(), IMPORT_COMMAND], {
      env: { ...environmentWithoutSettings(), BUN_JSC_forceRAMSize: String(COLLECTED_BYTES) },
      // Not the working directory of the server, which could contain settings for the runtime.
      cwd: resolve(config.dataDir),
      stdin: Buffer.from(`${writeConfig(config)}\n${JSON.stringify(request)}`),
      stdout: "pipe",
      stderr: "pipe",
    });
    const kill = () => child.kill("SIGKILL");
    signal.addEventListener("abort", kill, { once: true });
    let isTooLarge = false;
    const watch = clock.every(LOOK_MS, () => {
      if (isTooLarge || privateBytesOf(child.pid) <= memoryMaxBytes) return;
      isTooLarge = true;
      kill();
    });
    try {
      const errors = new Response(child.stderr).text();
      const result = await readMessages(child.stdout, progress);
      if (result) return result;
      // It may still be running, after an answer that is too long.
      kill();
      const exitCode = await child.exited;
      if (isTooLarge) return brokenOff(request, tooLarge(memoryMaxBytes));
      if (!signal.aborted) {
        const { signalCode } = child;
        const reason = framesOf(await errors);
        log.error({ exitCode, signalCode, reason }, "an import broke off");
      }
      return brokenOff(request);
    } finally {
      watch.cancel();
      signal.removeEventListener("abort", kill);
    }
  };
}

/** Returns the private memory of a process; 0 where the system does not tell it. */
function privateBytesOf(pid: number): number {
  try {
    const [, kilobytes = 0] =
      /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    return 0;
  }
}

/** Reads messages, one a line, until the one that ends the import; undefined if there is none. */
async function readMessages(
  stream: AsyncIterable<Uint8Array>,
  progress: (text: string) => void,
): Promise<ImportResult | undefined> {
  let result: ImportResult | undefined;
  let rest: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      const line = Buffer.concat([...rest, chunk.subarray(start, end)]).toString();
      const message = parseJson(line) as ImportMessage | undefined;
      if (message && "progress" in message) progress(message.progress);
      else if (message) result = message;
      [rest, length, start] = [[], 0, end + 1];
    }
    rest.push(chunk.subarray(start));
    length += chunk.byteLength - start;
    if (length > ANSWER_MAX_BYTES) return undefined;
  }
  return result;
}

/** Returns the lines of a stack without its message, which may have parts of the source. */
function framesOf(errors: string): string {
  return errors
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 20)
    .join("\n");
}

/** Import that the server asks another process for. It holds secrets. */
export interface ImportRequest {
  kind: ImportKind;
  /** Path, or URL. */
  place: string;
  /** Name of the place as people know it. */
  placeName: string;
  values: OptionValues;
  options: ImportOptions;
  author: Actor;
}

/** Reason for which an import wrote nothing. */
export interface ImportFailure {
  /** One or more sentences. */
  message: string;
  /** Errors of options. */
  fields: readonly FieldError[];
}

/** Line of the answer: the progress of an import, in words, or its end. */
export type ImportMessage =
  { progress: string } | { report: ImportReport } | { failure: ImportFailure };

/** End of an import. */
export type ImportResult = Exclude<ImportMessage, { progress: string }>;

/** Runs an import until the signal aborts. Never rejects. */
export type RunImport = (
  request: ImportRequest,
  progress: (text: string) => void,
  signal: AbortSignal,
) => Promise<ImportResult>;

/** Reason for which a second import does not start. */
export const IMPORT_RUNS = "Another import is running. Wait until it has ended.";

/** Folders of the data directory: for files that operators put there, and for those of forms. */
const OFFERED = "import";

const UPLOADS = "import-uploads";

/** Maximum number of offered names, and of entries of an offered folder that are looked at. */
const NAMES_MAX = 200;

const ENTRIES_MAX = 10_000;

/** Error of a file that cannot be stored. */
const NOT_STORED =
  "The file cannot be stored in the data directory. Free space on its disk, and try again.";

const RETRY_SECONDS = 60;

/** File, or folder, that can be imported by its name. */
export interface OfferedFile {
  name: string;
  isFolder: boolean;
  bytes: number;
}

/** Files of imports in the data directory. */
interface ImportFiles {
  /** Folder of the offered files. */
  readonly folder: string;
  /** Lists what a source may be read from, by name. Symbolic links and hidden files are not offered. */
  list(source: Pick<ImportSource, "takes">): Promise<OfferedFile[]>;
  /** Returns the path of an offered file; undefined for every other name. */
  find(source: Pick<ImportSource, "takes">, name: string): Promise<string | undefined>;
  /** Stores a file that only this user can read, and returns its path. Throws `unavailable`. */
  store(bytes: Uint8Array, name: string): Promise<string>;
  /** Removes a stored file. Logs failures of the system. */
  remove(path: string): Promise<void>;
  /** Removes all stored files. */
  sweep(): Promise<void>;
}

function createImportFiles(
  { config, log, random }: Ctx,
  directoryOf = () => resolve(config.dataDir),
): ImportFiles {
  const uploads = () => join(directoryOf(), UPLOADS);
  const offered = () => join(directoryOf(), OFFERED);

  /** Lists nothing if the folder cannot be read, so that a form can be opened without it. */
  async function list(source: Pick<ImportSource, "takes">): Promise<OfferedFile[]> {
    try {
      return await listFolder(source);
    } catch (error) {
      log.warn({ err: error }, "the folder of files to import cannot be read");
      return [];
    }
  }

  async function listFolder({ takes }: Pick<ImportSource, "takes">): Promise<OfferedFile[]> {
    const folder = offered();
    // A link could lead out of the data directory.
    if (!(await isFolder(folder))) return [];
    const entries = await readdir(folder, { withFileTypes: true });
    const shown = entries.filter(
      (entry) =>
        !/^\.|-(wal|shm|journal)$/.test(entry.name) &&
        (entry.isFile() || (entry.isDirectory() && takes.includes("folder"))),
    );
    shown.sort((a, b) => (a.name < b.name ? -1 : 1));
    return Promise.all(
      shown.slice(0, NAMES_MAX).map(async (entry) => ({
        name: entry.name,
        isFolder: entry.isDirectory(),
        bytes: (await lstat(join(folder, entry.name))).size,
      })),
    );
  }

  async function withoutFailing(removal: Promise<void>): Promise<void> {
    try {
      await removal;
    } catch (error) {
      log.warn({ err: error }, "files of imports were not removed; the next start removes them");
    }
  }

  return {
    get folder() {
      return offered();
    },
    list,

    async find(source, name) {
      const file = (await list(source)).find((each) => each.name === name);
      if (!file) return undefined;
      const path = join(offered(), name);
      return file.isFolder && (await hasLinks(path)) ? undefined : path;
    },

    async store(bytes, name) {
      const extension = /^\.[a-z0-9]{1,8}$/i.test(extname(name)) ? extname(name) : "";
      const path = join(uploads(), `${encodeBase62(random(16), 22)}${extension}`);
      try {
        await mkdir(uploads(), { recursive: true, mode: 0o700 });
        await writeFile(path, bytes, { flag: "wx", mode: 0o600 });
        return path;
      } catch (error) {
        await rm(path, { force: true }).catch(() => {});
        throw unavailable(NOT_STORED, RETRY_SECONDS, error);
      }
    },

    async remove(path) {
      await withoutFailing(rm(path, { force: true }));
    },

    async sweep() {
      await withoutFailing(rm(uploads(), { recursive: true, force: true }));
    },
  };
}

/** Returns a text with the name of the file as people know it. A stored file has a random one. */
export function withPlaceName(text: string, place: string, name: string): string {
  if (!isAbsolute(place)) return text;
  return text.replaceAll(join(place, "/"), `${name}/`).replaceAll(place, `“${name}”`);
}

async function isFolder(path: string): Promise<boolean> {
  const [result] = await Promise.allSettled([lstat(path)]);
  return result.status === "fulfilled" && result.value.isDirectory();
}

/** Returns true if a folder has symbolic links, which could lead out of it, or too many entries to know. */
async function hasLinks(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries.length > ENTRIES_MAX || entries.some((entry) => entry.isSymbolicLink());
}
