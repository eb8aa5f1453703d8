import type { Clock, Timer } from "../../../base/clock";
import type { ListenAddress } from "../../../base/config/parse";
import { isDescriptorError, NO_DESCRIPTOR_LEFT } from "../../../base/descriptors";
import type { MonitorType } from "../../../base/status";
import type { Ctx } from "../../../context";
import type { Egress } from "../../../egress/egress";
import type { Contact } from "../../../egress/model";
import type { StepRecorder } from "../../../egress/steps";
import { AssertionEvaluator } from "../assertions/evaluator";
import { closing, type Probe, type ProbeResult } from "../monitoring";
import { type MonitorConfig, probeOf } from "../probes";
import { ownVia } from "../via";
import type { Missed } from "./job";
import { Stalls } from "./stalls";

/** Returns the probe of a type. */
export type FindProbe = (type: MonitorType) => Pick<Probe<MonitorType, MonitorConfig>, "run">;

export interface ProberOptions {
  /** Returns the probe of a type; that of the registry by default. */
  findProbe?: FindProbe;
  /**
   * Returns the last time, on the monotonic clock, at which clients may not have reached this
   * server.
   */
  lastUnreachableAt?: () => number;
  /** Stalls of this process; none by default. */
  stalls?: Stalls;
  /** Returns the id by which pages of Allclear name this installation; that of its first page by default. */
  installation?: () => string | undefined;
}

/** Time after which a probe that ignores its deadline is abandoned. */
const OVERDUE_MS = 1_000;

const NO_HEARTBEAT: ProbeResult = {
  outcome: "failed",
  latencyMs: null,
  message: "No heartbeat arrived in time.",
};

const UNFINISHED: ProbeResult = {
  outcome: "failed",
  latencyMs: null,
  message: "Started, not finished.",
};

const UNREACHABLE: ProbeResult = {
  outcome: "unknown",
  latencyMs: null,
  message: "This server could not be reached.",
};

/** Result of a check that could not start a program, such as ping. */
const NO_DESCRIPTOR: ProbeResult = {
  outcome: "unknown",
  latencyMs: null,
  message: NO_DESCRIPTOR_LEFT,
};

const INTERNAL_ERROR: ProbeResult = {
  outcome: "unknown",
  latencyMs: null,
  message: "The check failed because of an internal error.",
};

const LOST_NETWORK: ProbeResult = {
  outcome: "unknown",
  latencyMs: null,
  message: "This server had no network connection.",
};

const TIMED_OUT: ProbeResult = {
  outcome: "failed",
  latencyMs: null,
  message: "Timed out.",
  isUndecided: true,
};

/**
 * Runs single checks, each within its timeout. A failure is `unknown` if this server has reference targets and reaches
 * none of them.
 */
export class Prober {
  readonly #ctx: Ctx;
  readonly #egress: Egress;
  readonly #findProbe: FindProbe;
  readonly #lastUnreachableAt: () => number;
  readonly #installation: () => string | undefined;
  /** Ends running checks by their signals. */
  readonly #underWay = new Map<AbortController, (error: Error) => void>();
  readonly #evaluator: AssertionEvaluator;
  readonly #connectivity: Connectivity;
  #isStopped = false;

  constructor(
    ctx: Ctx,
    egress: Egress,
    {
      findProbe = probeOf,
      lastUnreachableAt = () => Number.NEGATIVE_INFINITY,
      stalls = new Stalls(ctx.clock),
      installation = () => ownVia(ctx.db),
    }: ProberOptions = {},
  ) {
    this.#ctx = ctx;
    this.#egress = egress;
    this.#findProbe = findProbe;
    this.#lastUnreachableAt = lastUnreachableAt;
    this.#installation = installation;
    this.#evaluator = new AssertionEvaluator(ctx.clock);
    this.#connectivity = new Connectivity(ctx, egress, stalls);
  }

  /** Runs a check once, records its steps if asked, and fills in the contact. Rejects after `stop`, and for programming errors. */
  async run(
    type: MonitorType,
    config: MonitorConfig,
    timeoutMs: number,
    steps?: StepRecorder,
    contact: Contact = { addresses: [] },
  ): Promise<ProbeResult> {
    if (this.#isStopped) throw closing();
    const { run } = this.#findProbe(type);
    if (!run) throw new Error(`monitors of type ${type} run no checks`);
    const { clock, outside } = this.#ctx;
    const controller = new AbortController();
    let timer: Timer | undefined;
    try {
      const context = {
        egress: this.#egress,
        contact,
        clock,
        evaluator: this.#evaluator,
        signal: controller.signal,
        steps,
        installation: type === "upstream" ? this.#installation() : undefined,
      };
      const result = await new Promise<ProbeResult>((resolve, reject) => {
        this.#underWay.set(controller, reject);
        timer = clock.after(timeoutMs, () => {
          controller.abort();
          timer = clock.after(OVERDUE_MS, () => resolve(TIMED_OUT));
        });
        run(config, context).then(resolve, reject);
      });
      steps?.finish(result);
      // Programs such as ping note no answer by themselves.
      if (result.outcome === "ok") for (const each of contact.addresses) outside.answered(each);
      return result;
    } finally {
      timer?.cancel();
      this.#underWay.delete(controller);
    }
  }

  /**
   * Runs a check of a monitor, and records its steps if asked: `unknown` if this server had no network.
   * Never rejects. `startedAt` is on the monotonic clock.
   */
  async find(
    scheduled: { id: string; type: MonitorType; config: MonitorConfig; timeoutMs: number },
    startedAt: number,
    steps?: StepRecorder,
  ): Promise<ProbeResult> {
    const { id, type, config, timeoutMs } = scheduled;
    const contact: Contact = { addresses: [] };
    try {
      const result = { ...(await this.run(type, config, timeoutMs, steps, contact)), contact };
      return result.outcome === "failed" ? await this.#blame(result, startedAt) : result;
    } catch (error) {
      const result = isDescriptorError(error) ? NO_DESCRIPTOR : INTERNAL_ERROR;
      steps?.finish(result);
      if (result === INTERNAL_ERROR && !this.#isStopped) {
        this.#ctx.log.error(
          { err: error, monitor: id },
          "a check failed because of an internal error",
        );
      }
      return result;
    }
  }

  /**
   * Returns the failure, or `unknown` if this server had no network since `startedAt` (monotonic
   * clock). Never rejects.
   */
  async #blame(failure: ProbeResult, startedAt: number): Promise<ProbeResult> {
    return (await this.#connectivity.wasLostSince(startedAt)) ? LOST_NETWORK : failure;
  }

  /**
   * Returns the result for a job that has missed a deadline: `unknown` if its call may not have reached this
   * server. Never rejects.
   */
  async missHeartbeat({ what, since }: Missed): Promise<ProbeResult> {
    if (this.#lastUnreachableAt() >= since) return UNREACHABLE;
    return this.#blame(what === "end" ? UNFINISHED : NO_HEARTBEAT, since);
  }

  /** Ends running checks at once, and lets no others begin. */
  stop(): void {
    this.#isStopped = true;
    for (const [controller, reject] of this.#underWay) {
      reject(closing());
      controller.abort();
    }
    this.#evaluator.stop();
  }
}

/**
 * Time for which a result is reused, since an outage of the own network fails many checks at once.
 */
const HELD_MS = 5_000;

const TIMEOUT_MS = 3_000;

/**
 * Decides if this server is online by reference targets, which are tried only after a failed check.
 * One response is enough. Without targets the server counts as online.
 */
class Connectivity {
  readonly #clock: Clock;
  readonly #targets: readonly ListenAddress[];
  readonly #egress: Egress;
  readonly #stalls: Stalls;
  #askedAt = Number.NEGATIVE_INFINITY;
  #offlineAt = Number.NEGATIVE_INFINITY;
  #isOffline = false;
  #asking: Promise<void> | undefined;

  constructor({ clock, config }: Ctx, egress: Egress, stalls: Stalls) {
    this.#clock = clock;
    this.#targets = config.referenceTargets;
    this.#egress = egress;
    this.#stalls = stalls;
  }

  /**
   * Returns true if the server is offline, or was found offline since a time of the monotonic
   * clock.
   */
  async wasLostSince(startedAt: number): Promise<boolean> {
    if (this.#targets.length === 0) return false;
    if (this.#offlineAt >= startedAt) return true;
    if (this.#clock.monotonic() - this.#askedAt >= HELD_MS) {
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = undefined;
      });
    }
    await this.#asking;
    return this.#isOffline || this.#offlineAt >= startedAt;
  }

  async #ask(): Promise<void> {
    this.#stalls.begin();
    const startedAt = this.#clock.monotonic();
    // Targets that seem unreachable because this process stood still are asked once more.
    const isOnline =
      (await this.#reachesAny()) ||
      (this.#stalls.hasEndedSince(startedAt) && (await this.#reachesAny()));
    this.#isOffline = !isOnline;
    this.#askedAt = this.#clock.monotonic();
    if (this.#isOffline) this.#offlineAt = this.#askedAt;
  }

  async #reachesAny(): Promise<boolean> {
    const giveUp = new AbortController();
    const timer = this.#clock.after(TIMEOUT_MS, () => giveUp.abort());
    const attempts = this.#targets.map(async ({ host, port }) => {
      const target = { host, port, policy: "monitor", signal: giveUp.signal } as const;
      const connection = await this.#egress.connect(target);
      if (!("close" in connection)) throw new Error("unreachable");
      connection.close();
    });
    const isOnline = await Promise.any(attempts).then(
      () => true,
      () => false,
    );
    timer.cancel();
    // One response is enough; the other attempts end.
    giveUp.abort();
    return isOnline;
  }
}
