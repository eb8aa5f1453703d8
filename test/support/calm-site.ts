import { join } from "node:path";
import { startBackground } from "../../src/background";
import type { Egress } from "../../src/egress/egress";
import { Fault, type HttpAnswer, type HttpRequest } from "../../src/egress/model";
import type { ProbeResult } from "../../src/features/monitors/monitoring";
import type { WebhookFormat } from "../../src/base/webhook";
import { type Answer, type CallOptions, createTestApp, type TestApp } from "./app";
import { createTestClock, settle, type TestClock } from "./clock";
import { temporaryFolder } from "./temporary-folder";

/** State of the target of a monitor. */
export type TargetState = "well" | "slow" | "failing";

/** Behaviour of a receiver: success, an error, a refusal with a wait in seconds, or no connection. */
export type Behaviour = "accepts" | "fails" | "breaks" | { refusesFor: number };

/** A message that a receiver accepted. */
interface AcceptedMessage {
  /** Value of the header `webhook-id`. */
  id: string;
  at: number;
  body: string;
}

/** An endpoint and its receiver, which has a host of its own. */
export interface CalmReceiver {
  id: string;
  format: WebhookFormat;
  behaviour: Behaviour;
  accepted: AcceptedMessage[];
}

/** Length of an interval between two checks, in seconds. */
const INTERVAL_S = 60;

/** Latency of slow answers and the limit of the monitors, in ms. */
const SLOW_MS = 900;
const DEGRADED_AFTER_MS = 500;
const TURNS = 12;

/**
 * The whole application on a database file, without a network: checks, deliveries and all other work in the
 * background run as in a server, on the clock of the test.
 */
export interface CalmSite extends AsyncDisposable {
  /** Application of the current process. */
  readonly app: TestApp;
  clock: TestClock;
  receivers: CalmReceiver[];
  /** Calls the API with a key of all scopes; undefined if the answer is an error below 500. */
  call(path: string, options?: CallOptions): Promise<Answer["body"] | undefined>;
  /** Submits a form of the dashboard as an owner. */
  submit(path: string, form: Record<string, string | readonly string[]>): Promise<Answer>;
  endpoint(format: WebhookFormat, input?: object): Promise<CalmReceiver>;
  /** Creates a monitor that is down after one failure and returns its id. */
  monitor(name: string, componentIds: readonly string[], input?: object): Promise<string>;
  /** Sets the state of a monitor's target. */
  set(name: string, state: TargetState): void;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
  /** Stops or kills the process, and starts another one later. */
  restart(options: { isKilled: boolean; awayMs: number }): Promise<void>;
  databasePath: string;
}

type RunningBackground = ReturnType<typeof startBackground>;

interface Process {
  app: TestApp;
  background: RunningBackground;
  kill(): void;
}

export async function createCalmSite(): Promise<CalmSite> {
  const folder = temporaryFolder();
  const databasePath = join(folder.path, "allclear.db");
  const clock = createTestClock();
  const targets = new Map<string, TargetState>();
  const receivers: CalmReceiver[] = [];
  const old: TestApp[] = [];
  let process = await startProcess();
  const { app: first } = process;
  const key = await first.keyWith(
    "read:status",
    "write:incidents",
    "write:components",
    "write:maintenance",
    "manage:monitors",
    "manage:webhooks",
  );
  const owner = await first.signedIn("owner");

  async function startProcess(): Promise<Process> {
    const own = ownClock(clock);
    let isAlive = true;
    let background: RunningBackground | undefined;
    const egress = egressTo(receivers, clock, () => isAlive);
    const app = await createTestApp({
      clock: own.clock,
      databasePath,
      egress: () => egress,
      monitoring(ctx) {
        const { write } = ctx.db;
        // Promises of a process that was killed never settle, and its transactions end without a commit.
        ctx.db.write = (change) =>
          new Promise((resolve, reject) => {
            if (!isAlive) return;
            write((tx) => {
              if (!isAlive) throw new Error("the process was killed");
              return change(tx);
            }).then(
              (value) => void (isAlive && resolve(value)),
              (error: unknown) => void (isAlive && reject(error)),
            );
          });
        const observed = { requests: () => 0, lastUnreachableAt: () => -Infinity };
        const listener = { holdOpen: () => () => undefined };
        background = startBackground(ctx, listener as never, observed, {
          egress,
          findProbe: () => ({ run: check }),
        });
        return background.monitoring;
      },
    });
    if (!background) throw new Error("nothing runs in the background");
    return {
      app,
      background,
      kill() {
        isAlive = false;
        own.end();
      },
    };
  }

  async function check(config: object): Promise<ProbeResult> {
    const name = new URL((config as { url: string }).url).hostname.replace(/\.test$/, "");
    const state = targets.get(name) ?? "well";
    if (state === "failing") {
      return { outcome: "failed", latencyMs: null, message: "The connection was refused." };
    }
    return { outcome: "ok", latencyMs: state === "slow" ? SLOW_MS : 20, message: null };
  }

  async function quiet(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) await settle();
  }

  const site: CalmSite = {
    get app() {
      return process.app;
    },
    clock,
    databasePath,
    receivers,
    async call(path, options) {
      const answer = await process.app.call(`/api/v1/${path}`, { key, ...options });
      if (answer.status >= 500) throw new Error(answer.text);
      await quiet();
      return answer.status < 400 ? (answer.body ?? {}) : undefined;
    },
    async submit(path, form) {
      const answer = await process.app.call(path, { session: owner, form });
      if (answer.status >= 500) throw new Error(answer.text);
      await quiet();
      return answer;
    },
    async endpoint(format, input = {}) {
      const url = `https://receiver-${receivers.length}.test/hook`;
      const body = await site.call("webhooks", { method: "POST", json: { url, format, ...input } });
      if (!body) throw new Error("the endpoint was refused");
      const receiver: CalmReceiver = { id: body.id, format, behaviour: "accepts", accepted: [] };
      receivers.push(receiver);
      return receiver;
    },
    async monitor(name, componentIds, input = {}) {
      const body = await site.call("monitors", {
        method: "POST",
        json: {
          type: "http",
          name,
          config: { url: `https://${name}.test/` },
          component_ids: componentIds,
          interval_seconds: INTERVAL_S,
          failure_threshold: 1,
          degraded_after_ms: DEGRADED_AFTER_MS,
          on_down: "major_outage",
          open_incident: "automatic",
          ...input,
        },
      });
      if (!body) throw new Error("the monitor was refused");
      return body.id;
    },
    set: (name, state) => void targets.set(name, state),
    async pass(ms) {
      await clock.advance(ms);
      await quiet();
    },
    async restart({ isKilled, awayMs }) {
      if (!isKilled) {
        const stopped = process.background.stop(Promise.resolve());
        await clock.advance(1_000);
        await stopped;
      }
      process.kill();
      await quiet();
      old.push(process.app);
      await clock.advance(awayMs);
      process = await startProcess();
      await quiet();
    },
    async [Symbol.asyncDispose]() {
      const stopped = process.background.stop(Promise.resolve());
      await clock.advance(1_000);
      await stopped;
      process.kill();
      await quiet();
      for (const app of [...old, process.app]) await app[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
  return site;
}

/** Creates connections that reach only the receivers. */
function egressTo(
  receivers: readonly CalmReceiver[],
  clock: TestClock,
  isAlive: () => boolean,
): Egress {
  const unreachable = async () => new Fault("connect", "The connection was refused.");
  return {
    resolve: unreachable,
    ping: unreachable,
    connect: unreachable,
    socket: unreachable,
    query: unreachable,
    askDocker: unreachable,
    async request({ url, headers = {}, body = "" }: HttpRequest) {
      const receiver = receivers[Number(/^receiver-(\d+)\.test$/.exec(url.hostname)?.[1])];
      if (!receiver || !isAlive() || receiver.behaviour === "breaks") return unreachable();
      const { behaviour } = receiver;
      if (behaviour === "fails") return answerOf(500);
      if (behaviour !== "accepts") {
        return answerOf(429, new Map([["retry-after", String(behaviour.refusesFor)]]));
      }
      const names = new Map(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
      );
      receiver.accepted.push({
        id: String(names.get("webhook-id")),
        at: clock.now(),
        body: typeof body === "string" ? body : new TextDecoder().decode(body),
      });
      return answerOf(200);
    },
  };
}

function answerOf(status: number, headers: ReadonlyMap<string, string> = new Map()): HttpAnswer {
  const nothing = new Uint8Array();
  return {
    status,
    headers,
    sentBody: nothing,
    isTruncated: false,
    certificate: null,
    address: "203.0.113.9",
  };
}

/** Returns the same clock, all of whose timers can be ended. */
function ownClock(clock: TestClock): { clock: TestClock; end(): void } {
  let isEnded = false;
  const run = (job: () => void) => () => void (isEnded || job());
  return {
    clock: {
      ...clock,
      after: (delayMs, job) => clock.after(delayMs, run(job)),
      every: (intervalMs, job) => clock.every(intervalMs, run(job)),
    },
    end() {
      isEnded = true;
    },
  };
}
