import type { Sparkline as Values } from "../../features/monitors";
import { plural } from "../../kernel/text";
import { Sparkline } from "../../ui";
import { latencyInWords } from "./words";

/** Sparkline of recent response times. Missing responses are dots. */
export function ResponseLine({ line }: { line: Values | undefined }) {
  if (!line || line.values.length === 0) return <span class="quiet-text">Nothing known</span>;
  // What was answered within the same millisecond was answered all the same.
  const bars = line.values.map((value) => (value === null ? 0 : Math.max(1, value)));
  return <Sparkline values={bars} label={describe(line)} />;
}

function describe({ of, values }: Values): string {
  const known = values.filter((value) => value !== null);
  const when =
    of === "hours"
      ? "each of the last 24 hours"
      : `the last ${plural(values.length, "check")}`.replace("the last 1 check", "the last check");
  if (known.length === 0) return `No answer in ${when}`;
  const [low, high] = [Math.min(...known), Math.max(...known)].map(latencyInWords);
  return `Response times of ${when}: ${low === high ? low : `${low} to ${high}`}`;
}
