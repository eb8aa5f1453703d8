/*
 * The agent of a location: the engine of the server, on a database in memory. The server says what to check, and gets
 * the results. Nothing of that is written to a disk.
 */
import type { Config } from "../base/config/options";
import { Problem } from "../base/errors";
import { systemRandom } from "../base/hash";
import { createLog, deduplicateLog } from "../base/log";
import { redactText } from "../base/redaction";
import { DAY_MS, SECOND_MS } from "../base/time";
import type { Ctx } from "../context";
import { createDb } from "../db/database";
import { migrate } from "../db/migrations";
import { openSqlite } from "../db/open";
import { OperatorError } from "../db/errors";
import { createEgress, type Egress } from "../egress/egress";
import { StepRecorder } from "../egress/steps";
import { loadLibc } from "../egress/libc";
import type { CheckRequest } from "../features/locations/check-requests";
import { createMonitoring } from "../features/monitors/engine/engine";
import { createContext } from "../installation";
import { VERSION } from "../version";
import { createSteadyClock, type SteadyClock } from "./clock";
import { createContactFile } from "./contact-file";
import { replaceMonitors } from "./monitors";
import { Results } from "./results";
import { RejectedRequest, Server } from "./server";

interface AgentOptions {
  /** Origin of the server. */
  server: string;
  /** Returns the token of the location. Throws if it cannot be read. */
  readToken(): string;
  /** Directory of the time of the last contact; undefined for none. */
  stateDir: string | undefined;
  /** Number of checks at the same time. */
  concurrency: number;
  /** Called at the first contact with the server. */
  onConnected(): void;
}

type Engine = ReturnType<typeof createMonitoring>;

/** Maximum time that an agent waits at its stop for the server to take the last results. */
const STOP_MAX_MS = 5 * SECOND_MS;

/** Runs until `stopRequested` resolves. Throws if the directory of the state cannot be written. */
export async function runAgent(
  config: Config,
  options: AgentOptions,
  stopRequested: Promise<void>,
): Promise<void> {
  forbidCoreDumps();
  const clock = createSteadyClock();
  const { ctx, close } = openContext(config, clock);
  const noteContact = createContactFile(ctx, options.stateDir);
  const egress = createEgress(ctx);
  const server = new Server(ctx, egress, { ...options, onContact: noteContact });
  let isStopped = false;
  // Timers of the clock do not keep the process alive.
  const alive = setInterval(() => {}, DAY_MS);
  const running = run();
  await Promise.race([stopRequested, running]);
  isStopped = true;
  server.stop();
  await running;
  clearInterval(alive);
  close();

  async function run(): Promise<void> {
    const first = await untilAnswered();
    if (!first) return;
    clock.set(first.work.now);
    options.onConnected();
    const agent = new Agent(ctx, egress, server, options, first.work.location);
    await agent.run(first, () => isStopped);
  }

  /** Polls until the server answers; undefined at a stop. */
  async function untilAnswered() {
    while (!isStopped) {
      try {
        // oxlint-disable-next-line no-await-in-loop
        return await server.work(undefined);
      } catch (error) {
        // oxlint-disable-next-line no-await-in-loop
        if (!isStopped) await server.backOff(error);
      }
    }
    return undefined;
  }
}

const OTHER_LOCATION = "The token is that of another location than before. Start the agent again.";

type Answer = Awaited<ReturnType<Server["work"]>>;

/** An agent whose location is known. */
class Agent {
  readonly #ctx: Ctx;
  readonly #server: Server;
  readonly #results: Results;
  readonly #engine: Engine;
  readonly #location: string;
  /** Requests for checks that were seen and that the server still lists. */
  #requested: ReadonlySet<string> = new Set();
  #installation: string | undefined;

  constructor(
    ctx: Ctx,
    egress: Egress,
    server: Server,
    { concurrency }: Pick<AgentOptions, "concurrency">,
    location: string,
  ) {
    this.#ctx = ctx;
    this.#server = server;
    this.#location = location;
    this.#results = new Results(ctx, server);
    this.#engine = createMonitoring(ctx, egress, {
      location,
      concurrency,
      detectsStalls: true,
      store: this.#results.store,
      installation: () => this.#installation,
    });
  }

  /** Polls for work and does it, until `isStopped` returns true. Then sends the last results. */
  async run(first: Answer, isStopped: () => boolean): Promise<void> {
    let answer: Answer | undefined = first;
    let etag: string | undefined;
    this.#engine.start();
    try {
      while (!isStopped()) {
        try {
          // oxlint-disable no-await-in-loop
          answer ??= await this.#server.work(etag);
          etag = await this.#do(answer);
          answer = undefined;
        } catch (error) {
          if (isStopped()) break;
          if (error instanceof OperatorError) throw error;
          if (!(error instanceof RejectedRequest) && !(error instanceof Problem)) {
            this.#ctx.log.error({ err: error }, "the work could not be done");
          }
          if (error instanceof RejectedRequest && error.status === 401) {
            // What was entrusted to the token is forgotten with it.
            await replaceMonitors(this.#ctx, [], []);
            etag = undefined;
          }
          await this.#server.backOff(error);
          // oxlint-enable no-await-in-loop
        }
      }
    } finally {
      await Promise.race([this.#engine.stop(), this.#pause(STOP_MAX_MS)]);
    }
  }

  /** Does what the server says. Returns the entity tag of the monitors. */
  async #do({ work, etag }: Answer): Promise<string | undefined> {
    if (work.location !== this.#location) throw new OperatorError(OTHER_LOCATION);
    this.#installation = work.installation ?? undefined;
    if (work.monitors) await replaceMonitors(this.#ctx, work.monitors, work.down ?? []);
    this.#take(work.check_requests);
    if (work.poll_after_ms > 0) await this.#server.pause(work.poll_after_ms);
    return etag;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#ctx.clock.after(ms, resolve));
  }

  /** Begins the checks that users have asked for. */
  #take(requests: readonly CheckRequest[]): void {
    const before = this.#requested;
    this.#requested = new Set(requests.map(({ id }) => id));
    for (const request of requests) if (!before.has(request.id)) void this.#check(request);
  }

  async #check({ id: requestId, monitor_id: monitorId, steps }: CheckRequest): Promise<void> {
    const recorder = steps ? new StepRecorder(this.#ctx.clock) : undefined;
    const requested = { requestId, monitorId, steps: recorder };
    this.#results.expect(requested);
    try {
      await this.#engine.checkNow(monitorId, recorder);
    } catch (error) {
      await this.#results.fail(requested, (error as Error).message);
    }
  }
}

/** Opens the database in memory, with the context of the engine. */
function openContext(config: Config, clock: SteadyClock): { ctx: Ctx; close(): void } {
  const log = deduplicateLog(createLog(config.logLevel, redactText), clock, redactText);
  const sqlite = openSqlite(":memory:", 0);
  migrate(sqlite, undefined);
  const db = createDb(sqlite, clock, log);
  const ctx = createContext({ config, db, clock, log, random: systemRandom });
  log.info({ version: VERSION }, "the agent has started");
  return {
    ctx,
    close() {
      db.close();
      log.flush();
    },
  };
}

/** Resource of the size of core files. */
const RLIMIT_CORE = 4;

/** Operation of `prctl` that sets if a process can be dumped, and its memory be read by others of its user. */
const PR_SET_DUMPABLE = 4;

/**
 * Keeps the system from writing the memory of this process to a disk if it crashes, since it contains secrets. Programs
 * that get core dumps through a pipe, such as systemd-coredump, ignore the limit, but get none of a process that cannot
 * be dumped.
 */
function forbidCoreDumps(): void {
  const library = loadLibc();
  library?.setrlimit(RLIMIT_CORE, new BigUint64Array([0n, 0n]));
  library?.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
