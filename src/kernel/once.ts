/**
 * Does something at the first asking, once. The answer is a promise until it is done, and undefined from
 * then on. What fails is done again at the next asking.
 */
export function once(work: () => Promise<void>): () => Promise<void> | undefined {
  let isDone = false;
  let underWay: Promise<void> | undefined;

  async function run(): Promise<void> {
    try {
      await work();
      isDone = true;
    } finally {
      underWay = undefined;
    }
  }

  return () => {
    if (isDone) return undefined;
    underWay ??= run();
    return underWay;
  };
}
