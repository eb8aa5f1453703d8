/** Vertical scale of a chart of durations, with five lines. */
interface TimeScale {
  /** Highest value, in ms. */
  top: number;
  /** Texts of the lines, from the highest to zero; only the first has the unit. */
  labels: readonly string[];
}

/** Units, each with the highest value (ms) that it is used for. */
const UNITS = [
  { ms: 1, word: "ms", until: 8_000 },
  { ms: 1_000, word: "s", until: 600_000 },
  { ms: 60_000, word: "min", until: Number.POSITIVE_INFINITY },
] as const;
/** First digits of the distance between two lines. */
const DISTANCES = [1, 2, 3, 4, 5, 6, 8, 10];
const GAPS = 4;

/** Returns a scale of whole numbers for values up to `highest`, in ms. */
export function timeScale(highest: number): TimeScale {
  const unit = UNITS.find(({ until }) => highest <= until) ?? UNITS[2];
  const least = Math.max(1, highest / unit.ms / GAPS);
  const power = 10 ** Math.floor(Math.log10(least));
  const distance = power * (DISTANCES.find((each) => each * power >= least) ?? 10);
  const labels = Array.from({ length: GAPS + 1 }, (_each, index) => {
    const text = (distance * (GAPS - index)).toLocaleString("en");
    return index === 0 ? `${text} ${unit.word}` : text;
  });
  return { top: distance * GAPS * unit.ms, labels };
}
