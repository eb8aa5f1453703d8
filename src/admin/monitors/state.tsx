import type { CheckRow } from "../../features/monitors/checks-store";
import type { MonitorRecord } from "../../features/monitors/records";
import { toIso } from "../../base/time";
import { CheckLabel } from "../../ui/blocks";
import { exactTime, RelativeTime } from "../../ui/times";
import { monitorPath } from "../../ui/frame/paths";
import { timeInWords } from "./words";

/** Time since `at` as text, "for 4 min 20 s", with the date on hover. Both in unix ms. */
export function Since({ at, now }: { at: number; now: number }) {
  const iso = toIso(at);
  return (
    <>
      for{" "}
      <time dateTime={iso} title={exactTime(iso)}>
        {timeInWords(Math.max(1_000, now - at))}
      </time>
    </>
  );
}

/** Monitor through which another is unreachable, as a link after its state. */
export function UnreachableThrough({
  record,
}: {
  record: Pick<MonitorRecord, "state" | "parents">;
}) {
  const { state, parents } = record;
  const parent = parents.find(({ id }) => id === state.unreachableVia);
  if (state.state !== "unreachable" || !parent) return null;
  return (
    <>
      through <a href={monitorPath(parent.id)}>{parent.name}</a>{" "}
    </>
  );
}

/** Characters of a message shown in lists. */
const MESSAGE_SHOWN = 90;

/** Outcome, time and message of the last result of a monitor. */
export function LastResult({ check, now }: { check: CheckRow | undefined; now: number }) {
  if (!check) return <>None yet</>;
  const { outcome, message, at } = check;
  return (
    <>
      <CheckLabel outcome={outcome} /> <RelativeTime at={toIso(at)} now={now} />
      {message === null ? null : <> · {shortened(message)}</>}
    </>
  );
}

function shortened(message: string): string {
  const characters = [...message];
  if (characters.length <= MESSAGE_SHOWN) return message;
  return `${characters.slice(0, MESSAGE_SHOWN - 1).join("")}…`;
}
