import type { CheckRow } from "../../features/monitors";
import { toIso } from "../../kernel/time";
import { CellNote, CheckLabel, RelativeTime } from "../../ui";
import { latencyInWords } from "./words";

/** More of a message than this is not shown where there are many. */
const MESSAGE_SHOWN = 90;

/** The last result of a monitor: the content of a cell. */
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
