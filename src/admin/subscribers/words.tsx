import type { ConsentSource, MailStatus } from "../../base/mail-address";
import type { Tone } from "../../base/status";
import type { ListedSubscriber } from "../../features/subscribers/list";
import { State } from "../../ui/blocks";
import { REASON_LABELS } from "../suppression-words";

type Shown = Pick<ListedSubscriber, "status" | "reasons">;

/** State of a subscriber: active, ended, or the reason for which the address gets no mail. */
export function SubscriberState({ status, reasons }: Shown) {
  const all = reasons?.split(",") ?? [];
  const stop = Object.entries(REASON_LABELS).find(
    ([reason]) => reason !== "erased" && all.includes(reason),
  );
  if (status === "unsubscribed") return <State tone="none">{REASON_LABELS.unsubscribed}</State>;
  if (stop === undefined) return <State tone="ok">Active</State>;
  const [reason, word] = stop;
  return reason === "blocked" ? (
    <State tone="none" isPaused>
      {word}
    </State>
  ) : (
    <State tone="partial">{word}</State>
  );
}

/** Words for the origin of a consent. */
export const SOURCE_WORDS: Readonly<Record<ConsentSource, string>> = {
  form: "Confirmed by e-mail after a sign-up on the page",
  dashboard: "Added in the dashboard",
  command: "Added by a command",
  import: "Imported",
};

const MAIL_LOOKS: Readonly<Record<MailStatus, { label: string; tone: Tone }>> = {
  pending: { label: "Waiting", tone: "none" },
  sent: { label: "Accepted by the relay", tone: "ok" },
  bounced: { label: "Bounced", tone: "major" },
  failed: { label: "Failed", tone: "major" },
  superseded: { label: "Superseded by a newer message", tone: "none" },
  cancelled: { label: "Cancelled", tone: "none" },
  expired: { label: "Expired", tone: "none" },
};

/** State of a mail. A waiting one with failed tries has the tone of a retry. */
export function MailState({ status, tries }: { status: MailStatus; tries: number }) {
  const { label, tone } = MAIL_LOOKS[status];
  return (
    <State tone={status === "pending" && tries > 0 ? "degraded" : tone}>
      {status === "pending" && tries > 0 ? "Retrying" : label}
    </State>
  );
}
