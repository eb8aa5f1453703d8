import type { CheckOutcome } from "../../kernel/monitor-state";
import { toIso } from "../../kernel/time";
import { longDay, Notice } from "../../ui";
import { latencyInWords } from "./words";

/** What a check found that was run before anything was saved. */
export interface Trial {
  outcome: Exclude<CheckOutcome, "unknown">;
  latencyMs: number | null;
  message: string | null;
  certificateExpiresAt?: number;
}

export function TrialNotice({ trial }: { trial: Trial }) {
  const { outcome, latencyMs, message, certificateExpiresAt } = trial;
  const isOk = outcome === "ok";
  return (
    <div role="status">
      <Notice
        tone={isOk ? "success" : "danger"}
        title={isOk ? "The check succeeded" : "The check failed"}
      >
        {message === null ? null : <p>{message}</p>}
        {latencyMs === null ? null : <p>Answered in {latencyInWords(latencyMs)}.</p>}
        {certificateExpiresAt === undefined ? null : (
          <p>The certificate ends on {longDay(toIso(certificateExpiresAt))}.</p>
        )}
        <p>Nothing was saved yet.</p>
      </Notice>
    </div>
  );
}
