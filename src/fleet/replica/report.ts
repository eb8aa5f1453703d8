import type { Clock, Timer } from "../../base/clock";
import type { Signal } from "../../base/signal";
import { SECOND_MS } from "../../base/time";
import { REPORT_MS } from "../primary/node-registry";
import type { NodeReport, ReportAnswer } from "../primary/node-report";

/** Shortest time between two reports. */
const PROGRESS_MS = SECOND_MS;

/**
 * Sends the state of a replica to the primary every 5 seconds, and within a second after `changed`, one report after
 * the other. A report that does not arrive is not repeated. `post` rejects in time if there is no answer.
 */
export function startReporting(
  clock: Clock,
  changed: Pick<Signal<void>, "on">,
  report: () => NodeReport,
  post: (report: NodeReport) => Promise<void>,
): Timer {
  let isSending = false;
  let progress: Timer | undefined;

  function send(): void {
    progress?.cancel();
    progress = undefined;
    if (isSending) return sendSoon();
    isSending = true;
    const end = () => void (isSending = false);
    void post(report()).then(end, end);
  }

  function sendSoon(): void {
    progress ??= clock.after(PROGRESS_MS, send);
  }

  const stop = changed.on(sendSoon);
  const timer = clock.every(REPORT_MS, send);
  return {
    cancel() {
      stop();
      progress?.cancel();
      timer.cancel();
    },
  };
}

/** Position of a replica among those that may become the primary. */
export interface Rank {
  /** Takes the primary's answer to a report. */
  take(answer: string): void;
  /** Returns 0 for the newest copy in the last answer. A replica that it lacks is after all others. */
  get(): number;
}

/** Creates the rank of a node by its name. It is 0 before the first answer. */
export function createRank(name: string): Rank {
  let candidates: readonly string[] = [];
  return {
    take(answer) {
      // A primary of an earlier version answers with an empty body.
      const given = answer === "" ? undefined : (JSON.parse(answer) as Partial<ReportAnswer>);
      if (Array.isArray(given?.candidates)) candidates = given.candidates;
    },
    get() {
      const position = candidates.indexOf(name);
      return position === -1 ? candidates.length : position;
    },
  };
}
