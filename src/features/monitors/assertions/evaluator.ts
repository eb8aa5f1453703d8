import { hasFreeDescriptors } from "../../../base/descriptors";
import type { Clock, Timer } from "../../../base/clock";
import type { Slice, ThreadMessage } from "./assertion-thread";
import type { Subject } from "./evaluate";
import type { Assertion } from "./assertions";
import type { Failure } from "./words";

/** Result of checking a response: `unknown` if this server could not find out. */
export type Evaluated =
  { outcome: "ok" } | ({ outcome: "failed" } & Failure) | { outcome: "unknown"; message: string };

/** Returns the result of an evaluation that ended with this failure, or with none. */
export function outcomeOf(failure: Failure | null): Evaluated {
  return failure ? { outcome: "failed", ...failure } : { outcome: "ok" };
}

interface Job {
  /** Remaining assertions. */
  assertions: readonly Assertion[];
  subject: Subject;
  /** The check's deadline. */
  signal: AbortSignal;
  /** Identity of the monitor: the list of its assertions, the same object at each check. */
  owner: readonly Assertion[];
}

interface Task extends Job {
  /** Start of the evaluation, on the monotonic clock. */
  startedAt: number;
  /** Start of the slice that runs, on the monotonic clock. */
  sliceStartedAt: number | undefined;
  /** Longer of the thread times of this check and of the monitor's last one; lower goes first. */
  priorityMs: number;
  /** Thread time of this check, in ms. */
  usedMs: number;
  settle(evaluated: Evaluated): void;
}

/** Members of a worker thread that the evaluator uses. */
type EvaluationThread = Pick<Worker, "postMessage" | "terminate" | "onmessage" | "onerror">;

/** The thread costs about 15 MB. It ends after this time without work: monitors with the default interval keep it. */
const IDLE_MS = 90_000;

/**
 * Thread time charged to a check whose slice was ended, so that its monitor goes last at its next
 * check.
 */
const OVERRUN_MS = 60_000;

/** Time of one evaluation on the event loop, and of all evaluations in one turn of it, in nanoseconds. */
const INLINE_MAX_NS = 5_000_000;
const INLINE_PER_TURN_NS = 10_000_000;

/**
 * Share of its time for which a check must have used the thread so that its deadline counts as its
 * own fault. The rest is for starting the thread; a check that waited longer says nothing about
 * its target.
 */
const OVERRUN_SHARE = 0.75;

const OVERRUN: Evaluated = {
  outcome: "failed",
  message: "Evaluating the assertions took longer than the check's timeout allows.",
  publicMessage: "The response could not be evaluated in time.",
  isUndecided: true,
};
const TOO_BUSY: Evaluated = {
  outcome: "unknown",
  message: "This server was too busy to evaluate the assertions.",
};
const BROKEN: Evaluated = {
  outcome: "unknown",
  message: "This server could not evaluate the assertions.",
};

/**
 * Evaluates assertions in one thread, in slices of some milliseconds. The monitor that used the thread least
 * goes first, so expensive monitors wait for one another and cheap ones for a slice at most. A check whose
 * deadline passes while its slice runs ends the thread; others continue in the next one.
 */
export class AssertionEvaluator {
  readonly #clock: Clock;
  readonly #startThread: () => EvaluationThread;
  readonly #waiting = new Set<Task>();
  readonly #usedBefore = new WeakMap<readonly Assertion[], number>();
  #thread: EvaluationThread | undefined;
  /** True once the thread has loaded: only then is its time charged to a check. */
  #isReady = false;
  #current: Task | undefined;
  #idle: Timer | undefined;
  /** Time reserved in the current turn of the event loop, in nanoseconds. */
  #inlineNs = 0;

  constructor(clock: Clock, startThread: () => EvaluationThread = startAssertionThread) {
    this.#clock = clock;
    this.#startThread = startThread;
  }

  /**
   * Returns true if an evaluation of this cost may run on the event loop, and counts it. Hundreds of checks
   * may end in one turn, so they share an allowance.
   */
  reserveInline(costNs: number): boolean {
    if (costNs > INLINE_MAX_NS || this.#inlineNs + costNs > INLINE_PER_TURN_NS) return false;
    if (this.#inlineNs === 0 && costNs > 0) setImmediate(() => (this.#inlineNs = 0));
    this.#inlineNs += costNs;
    return true;
  }

  /** Evaluates a job. Never rejects. Resolves at the latest when its signal aborts. */
  evaluate(job: Job): Promise<Evaluated> {
    const { signal, owner } = job;
    return new Promise((resolve) => {
      const onAbort = () => this.#handleDeadline(task);
      const task: Task = {
        ...job,
        startedAt: this.#clock.monotonic(),
        sliceStartedAt: undefined,
        priorityMs: this.#usedBefore.get(owner) ?? 0,
        usedMs: 0,
        settle: (evaluated) => {
          signal.removeEventListener("abort", onAbort);
          this.#usedBefore.set(owner, task.usedMs);
          resolve(evaluated);
        },
      };
      if (signal.aborted) return resolve(TOO_BUSY);
      signal.addEventListener("abort", onAbort);
      this.#waiting.add(task);
      this.#next();
    });
  }

  /** Ends the thread. Running evaluations end by their own signals. */
  stop(): void {
    this.#idle?.cancel();
    this.#endThread();
  }

  #next(): void {
    if (this.#current) return;
    const task = this.#cheapest();
    if (!task) {
      this.#idle ??= this.#clock.after(IDLE_MS, () => this.stop());
      return;
    }
    this.#idle?.cancel();
    this.#idle = undefined;
    try {
      this.#thread ??= this.#start();
    } catch {
      return this.#failAll();
    }
    if (!this.#isReady) return;
    this.#waiting.delete(task);
    this.#current = task;
    task.sliceStartedAt = this.#clock.monotonic();
    const { assertions, subject } = task;
    this.#thread.postMessage({ assertions, subject } satisfies Slice);
  }

  #cheapest(): Task | undefined {
    let cheapest: Task | undefined;
    for (const task of this.#waiting) {
      if (!cheapest || task.priorityMs < cheapest.priorityMs) cheapest = task;
    }
    return cheapest;
  }

  #start(): EvaluationThread {
    const thread = this.#startThread();
    thread.onmessage = ({ data }: MessageEvent<ThreadMessage>) => {
      if (thread === this.#thread) this.#handleMessage(data);
    };
    thread.onerror = () => {
      if (thread === this.#thread) this.#failAll();
    };
    return thread;
  }

  #handleMessage(result: ThreadMessage): void {
    const task = this.#current;
    this.#current = undefined;
    if (result === "ready") this.#isReady = true;
    else if (task) {
      task.sliceStartedAt = undefined;
      task.usedMs += result.tookMs;
      task.priorityMs = Math.max(task.priorityMs, task.usedMs);
      if ("held" in result) {
        task.assertions = task.assertions.slice(result.held);
        this.#waiting.add(task);
      } else {
        task.settle(outcomeOf(result.failure));
      }
    }
    this.#next();
  }

  /** Ends a check whose deadline has passed. */
  #handleDeadline(task: Task): void {
    const now = this.#clock.monotonic();
    task.usedMs += now - (task.sliceStartedAt ?? now);
    const hasBegun = task === this.#current || task.usedMs > 0;
    const isOwnFault = hasBegun && task.usedMs >= OVERRUN_SHARE * (now - task.startedAt);
    if (isOwnFault) task.usedMs = Math.max(task.usedMs, OVERRUN_MS);
    if (task === this.#current) this.#endThread();
    this.#waiting.delete(task);
    task.settle(isOwnFault ? OVERRUN : TOO_BUSY);
    this.#next();
  }

  /** Fails all waiting tasks after the thread could not be started or failed. */
  #failAll(): void {
    const tasks = [...(this.#current ? [this.#current] : []), ...this.#waiting];
    this.#waiting.clear();
    this.#endThread();
    for (const task of tasks) task.settle(BROKEN);
  }

  #endThread(): void {
    this.#thread?.terminate();
    this.#thread = undefined;
    this.#isReady = false;
    this.#current = undefined;
  }
}

/** Free descriptors that a new thread must find: the runtime ends the process if one has too few. */
const THREAD_DESCRIPTORS = 32;

/** The executable holds the thread's module under this name in its root, as `deploy/build.ts` says. */
function startAssertionThread(): EvaluationThread {
  if (!hasFreeDescriptors(THREAD_DESCRIPTORS)) throw new Error("too few descriptors are free");
  return new Worker(new URL("./assertion-thread.ts", import.meta.url).href, {
    smol: true,
    ref: false,
  });
}
