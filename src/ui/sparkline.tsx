const HEIGHT = 16;
/** A bar of three units and a gap of one, as in the status bars. */
const STEP = 4;
const WIDTH = 3;

interface SparklineProps {
  /** Oldest first. */
  values: readonly number[];
  /** Accessible description of the chart. */
  label: string;
}

/** A row of little bars, the highest as high as the picture. Where nothing was, a dot remains. */
export function Sparkline({ values, label }: SparklineProps) {
  const highest = Math.max(0, ...values);
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${Math.max(1, values.length) * STEP - 1} ${HEIGHT}`}
      width={Math.max(1, values.length) * STEP - 1}
      height={HEIGHT}
      role="img"
      aria-label={label}
    >
      <path d={barsOf(values, highest)} />
      <path class="zero" d={dotsOf(values)} />
    </svg>
  );
}

// One path for all of them: twelve hundred shapes on the list of keys would be a third of the page.

function barsOf(values: readonly number[], highest: number): string {
  return values
    .map((value, index) => {
      if (value === 0) return "";
      const height = Math.max(2, Math.round((value / highest) * HEIGHT));
      return `M${index * STEP} ${HEIGHT}v-${height}h${WIDTH}v${height}`;
    })
    .join("");
}

function dotsOf(values: readonly number[]): string {
  return values
    .map((value, index) => (value === 0 ? `M${index * STEP} ${HEIGHT}v-1h${WIDTH}v1` : ""))
    .join("");
}
