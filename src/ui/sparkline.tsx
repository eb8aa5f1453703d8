const HEIGHT = 16;
/** A bar of three units and a gap of one, as in the status bars. */
const STEP = 4;
const WIDTH = 3;

interface SparklineProps {
  /** Oldest first. */
  values: readonly number[];
  /** What the picture says, in words. */
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
      {values.map((value, index) => {
        const height = value > 0 ? Math.max(2, Math.round((value / highest) * HEIGHT)) : 1;
        return (
          <rect
            key={index}
            class={value > 0 ? undefined : "zero"}
            x={index * STEP}
            y={HEIGHT - height}
            width={WIDTH}
            height={height}
          />
        );
      })}
    </svg>
  );
}
