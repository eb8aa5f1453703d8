/**
 * Reads one after another until `end` resolves, each when it is due or as soon as the one before is
 * answered. Its time counts from when it was due (unix ms), so one long wait delays all that were due in it.
 */
export async function readUntil(end: Promise<unknown>, paceMs: number, read: () => Promise<void>) {
  const reads: { due: number; ms: number }[] = [];
  let isOver = false;
  void end.then(() => (isOver = true));
  const now = () => performance.timeOrigin + performance.now();
  for (let due = now(); !isOver; due += paceMs) {
    const early = due - now();
    if (early > 0) await Bun.sleep(early);
    await read();
    reads.push({ due, ms: now() - due });
  }
  return reads;
}
