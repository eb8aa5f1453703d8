import { toIso } from "../../kernel/time";
import { exactTime } from "../../ui";
import { timeInWords } from "./words";

/** For how long something has been so, since when on hover: "for 4 min 20 s". Both in unix ms. */
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
