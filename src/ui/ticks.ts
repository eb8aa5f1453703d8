/** Leading digits of the highest value of a scale. */
const TOPS = [1, 2, 3, 4, 6, 8, 10];

/** Three whole values for the side of a chart, from 0 to a round number that is no lower than any of these. */
export function ticksFor(values: readonly number[]): number[] {
  const highest = values.reduce((high, value) => Math.max(high, value), 0);
  const least = Math.max(2, highest);
  const unit = 10 ** Math.floor(Math.log10(least));
  const top = unit * (TOPS.find((each) => each * unit >= least && (each * unit) % 2 === 0) ?? 10);
  return [0, top / 2, top];
}
