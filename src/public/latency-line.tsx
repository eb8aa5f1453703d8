import type { Sparkline as Line } from "../features/monitors";
import { plural } from "../kernel/text";
import { Sparkline } from "../ui";
import { latencyText } from "./words";

/** Recent response times of a component, as small bars and in words. */
export function LatencyLine({ line }: { line: Line }) {
  const measured = line.values.filter((value) => value !== null);
  if (measured.length === 0) return null;
  const [least, most] = [Math.min(...measured), Math.max(...measured)].map(latencyText);
  const average = latencyText(measured.reduce((sum, value) => sum + value, 0) / measured.length);
  const each = line.of === "hours" ? "hour" : "check";
  return (
    <p class="latency muted">
      <span>
        Response time, {plural(line.values.length, each)}: {average}
      </span>
      <Sparkline
        // A bar for what took less than a millisecond, too; where nothing answered, there is none.
        values={line.values.map((value) => (value === null ? 0 : Math.max(1, value)))}
        label={`${average} on average, from ${least} to ${most}, a bar each ${each}`}
      />
    </p>
  );
}
