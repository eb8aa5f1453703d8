import type { CheckOutcome } from "../../domain/monitor-state";
import { toIso } from "../../kernel/time";
import { longDay, Notice } from "../../ui";
import { latencyInWords } from "./words";

/** Result of a check that was run without saving. */
export interface Trial {
  outcome: CheckOutcome;
  latencyMs: number | null;
  message: string | null;
  certificateExpiresAt?: number;
}

const APPEARANCE = {
  ok: { tone: "success", title: "The check succeeded" },
  failed: { tone: "danger", title: "The check failed" },
  unknown: { tone: "warning", title: "The check found nothing out" },
} as const satisfies Record<CheckOutcome, object>;

export function TrialNotice({ trial }: { trial: Trial }) {
  const { outcome, latencyMs, message, certificateExpiresAt } = trial;
  return (
    <div role="status">
      <Notice {...APPEARANCE[outcome]}>
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
