import type { CheckRow } from "../../features/monitors";
import { toIso } from "../../kernel/time";
import { CellNote, CheckLabel, exactTime, RelativeTime } from "../../ui";
import { latencyInWords, timeInWords } from "./words";

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

/** Characters of a message shown in lists. */
const MESSAGE_SHOWN = 90;

/** Cell with the last result of a monitor. */
export function LastResult({ check, now }: { check: CheckRow | undefined; now: number }) {
  if (!check) return <span class="quiet-text">None yet</span>;
  const { outcome, latencyMs, message, at } = check;
  return (
    <>
      <span class="result">
        <CheckLabel outcome={outcome} />{" "}
        {latencyMs === null ? null : <span>{latencyInWords(latencyMs)}</span>}
      </span>
      <CellNote>
        <RelativeTime at={toIso(at)} now={now} />
        {message === null ? null : <> · {shortened(message)}</>}
      </CellNote>
    </>
  );
}

function shortened(message: string): string {
  const characters = [...message];
  if (characters.length <= MESSAGE_SHOWN) return message;
  return `${characters.slice(0, MESSAGE_SHOWN - 1).join("")}…`;
}
