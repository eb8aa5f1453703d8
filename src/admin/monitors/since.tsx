import { toIso } from "../../kernel/time";
import { exactTime } from "../../ui";
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
