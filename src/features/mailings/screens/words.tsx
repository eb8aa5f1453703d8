import type { MailHold } from "../../../base/mail-address";
import type { Tone } from "../../../base/status";
import { toIso } from "../../../base/time";
import { State } from "../../../ui/blocks";
import {
  componentPath,
  incidentPath,
  MAILINGS_PATH,
  maintenancePath,
} from "../../../ui/frame/paths";
import { RelativeTime } from "../../../ui/times";
import { type MailingProgress, progressOf } from "../lists";
import { limitReason } from "../rules";
import type { MailingRow } from "../store";

/** Words for the events of mailings. */
const EVENT_WORDS: Readonly<Record<string, string>> = {
  "incident.created": "Incident published",
  "incident.updated": "Incident updated",
  "incident.resolved": "Incident resolved",
  "incident.reopened": "Incident reopened",
  "incident.postmortem_published": "Post-mortem published",
  "maintenance.scheduled": "Maintenance planned",
  "maintenance.updated": "Maintenance updated",
  "maintenance.started": "Maintenance started",
  "maintenance.completed": "Maintenance completed",
  "maintenance.cancelled": "Maintenance cancelled",
  "maintenance.reminder": "Reminder of maintenance",
  "component.status_changed": "Component status changed",
};

/** Returns the event of a mailing in words. */
export function eventWords({ kind }: Pick<MailingRow, "kind">): string {
  return EVENT_WORDS[kind] ?? kind;
}

/** Returns the path of the object that a mailing is about. */
export function subjectPath({ kind, subjectId }: Pick<MailingRow, "kind" | "subjectId">): string {
  if (kind.startsWith("incident.")) return incidentPath(subjectId);
  return kind.startsWith("maintenance.") ? maintenancePath(subjectId) : componentPath(subjectId);
}

const LOOKS: Readonly<Record<MailingProgress, { label: string; tone: Tone }>> = {
  waiting: { label: "Waiting", tone: "none" },
  sending: { label: "Sending", tone: "maint" },
  held: { label: "Held", tone: "degraded" },
  all_held: { label: "Held", tone: "degraded" },
  done: { label: "Done", tone: "ok" },
  merged: { label: "Merged", tone: "none" },
  not_begun: { label: "Not sent", tone: "none" },
  stopped: { label: "Stopped", tone: "none" },
};

interface StateProps {
  mailing: MailingRow;
  hold: MailHold | undefined;
  now: number;
}

/** State of a mailing in words. */
export function MailingState({ mailing, hold, now }: StateProps) {
  const { label, tone } = LOOKS[progressOf(mailing, hold, now)];
  return <State tone={tone}>{label}</State>;
}

/** Reason for the state of a mailing; nothing if it needs none. */
export function MailingReason({ mailing, hold, now }: StateProps) {
  switch (progressOf(mailing, hold, now)) {
    case "waiting":
      return (
        <>
          Begins <RelativeTime at={toIso(mailing.beginAt)} now={now} />
        </>
      );
    case "held":
      return <>{limitReason(mailing.author)}</>;
    case "all_held":
      return hold?.reason === "restore" ? <>A backup was restored</> : <>Too many mails failed</>;
    case "merged":
      return <>The next mailing contains its text</>;
    case "not_begun":
      return <>Its time was over, or it no longer applied</>;
    case "sending":
    case "done":
    case "stopped":
      return null;
  }
}

/** Returns a number with separators, such as "3,100". */
export function figure(count: number): string {
  return count.toLocaleString("en");
}

/** Returns the number of a mailing's mails; a dash before they are known. */
export function audienceOf({ cursor, written, state }: MailingRow): string {
  const isKnown = cursor >= 0 || state === "done" || state === "stopped";
  return isKnown ? figure(written) : "–";
}

export const GO_ON_PATH = `${MAILINGS_PATH}/go-on`;

/** Returns the path that releases all held mailings of a page. */
export function releaseOfPagePath(pageId: string): string {
  return `${MAILINGS_PATH}/pages/${encodeURIComponent(pageId)}/release`;
}

/** Returns the path of the suppressions of a hold, by its start (unix ms). */
export function suppressionsPath(at: number): string {
  return `${MAILINGS_PATH}/holds/${at}`;
}
