/** Returns the number of turns of the event loop that other work gets until a request is answered. */
export async function turnsDuring(request: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    if (isOver) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  await request();
  isOver = true;
  return turns;
}

/** Takes all steps of a generator for `runInSlices` in this turn of the event loop, and returns its result. */
export function atOnce<Result>(steps: Generator<number, Result>): Result {
  return takeAll(steps).result;
}

/** Takes all steps of such a generator. Returns its result, and the number of its turns if each step ends one. */
export function takeAll<Result>(steps: Generator<number, Result>): {
  result: Result;
  turns: number;
} {
  for (let turns = 1; ; turns++) {
    const step = steps.next();
    if (step.done) return { result: step.value, turns };
  }
}
