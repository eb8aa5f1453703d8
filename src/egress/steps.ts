import type { Clock } from "../base/clock";
import { oneLine } from "../base/text";

/** Names of the steps of checks. */
export const STEP_NAMES = [
  "look_up",
  "connect",
  "proxy",
  "starttls",
  "tls",
  "token",
  "greeting",
  "sign_in",
  "command",
  "upgrade",
  "query",
  "request",
  "body",
  "message",
  "close",
  "ping",
  "assertion",
  "evaluation",
] as const;
export type StepName = (typeof STEP_NAMES)[number];

/** A step of a check that has ended. */
export interface Step {
  name: StepName;
  durationMs: number;
  isOk: boolean;
  /** Facts, or the reason of the failure, on one line; null for none. Contains no secret. */
  detail: string | null;
}

/** A step in JSON. */
interface StepInJson {
  name: StepName;
  duration_ms: number;
  ok: boolean;
  detail: string | null;
}

/** Returns steps as JSON has them. */
export function presentSteps(steps: readonly Step[]): StepInJson[] {
  return steps.map(({ name, durationMs, isOk, detail }) => ({
    name,
    duration_ms: durationMs,
    ok: isOk,
    detail,
  }));
}

/** Returns the steps of JSON. */
export function readSteps(steps: readonly StepInJson[]): Step[] {
  return steps.map(({ name, duration_ms: durationMs, ok: isOk, detail }) => ({
    name,
    durationMs,
    isOk,
    detail,
  }));
}

interface OpenStep {
  name: StepName;
  startedAt: number;
  detail: string | undefined;
}

/** Limit of the steps of a check, which redirects and slow servers could make many. */
export const STEPS_MAX = 200;

/** Records the steps of one check, of which each begins when the one before has ended. */
export class StepRecorder {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #steps: Step[] = [];
  #open: OpenStep | undefined;
  #hasFinished = false;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Steps that have ended, in their order. */
  get steps(): readonly Step[] {
    return this.#steps;
  }

  /** Begins a step. One that has not ended has succeeded. */
  begin(name: StepName, detail?: string): void {
    this.end();
    if (this.#hasFinished) return;
    this.#open = { name, startedAt: this.#clock.monotonic(), detail };
  }

  /** Ends the current step, if any, as a success. The fact follows the detail it began with. */
  end(fact?: string): void {
    this.#close(true, fact);
  }

  /** Ends the current step, if any, as a failure. */
  fail(message: string): void {
    this.#close(false, message);
  }

  /** Adds a step that takes no time of its own. */
  add(name: StepName, isOk: boolean, detail: string): void {
    this.begin(name);
    this.#close(isOk, detail);
  }

  /**
   * Ends the recording with the outcome of the check. Without a step that failed, a failure is that of the
   * current step, or of evaluating what all steps brought.
   */
  finish({ outcome, message }: { outcome: string; message: string | null }): void {
    if (outcome === "ok") this.end();
    else if (this.#open) this.fail(message ?? "");
    else if (this.#steps.at(-1)?.isOk ?? true) this.add("evaluation", false, message ?? "");
    this.#hasFinished = true;
  }

  /** Forgets all steps and ends the recording, since the result of the check does not count. */
  discard(): void {
    this.#steps.length = 0;
    this.#open = undefined;
    this.#hasFinished = true;
  }

  /** Forgets all steps, since the check is repeated. */
  restart(): void {
    this.discard();
    this.#hasFinished = false;
  }

  #close(isOk: boolean, fact: string | undefined): void {
    if (!this.#open) return;
    const { name, startedAt, detail } = this.#open;
    this.#open = undefined;
    if (this.#steps.length === STEPS_MAX) return;
    const facts = [detail, fact].filter((text) => text !== undefined && text !== "").join(": ");
    this.#steps.push({
      name,
      // In tenths, since many steps take less than a millisecond.
      durationMs: Math.round((this.#clock.monotonic() - startedAt) * 10) / 10,
      isOk,
      detail: facts === "" ? null : oneLine(facts),
    });
  }
}
