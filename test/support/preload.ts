import fc from "fast-check";

/** Less than the time limit of a test, so that a failed property reports its example before that ends it. */
const LONGEST_MS = 4 * 60_000;

/** Ends the search of every property for smaller examples in time. A property that takes longer fails. */
fc.configureGlobal({ interruptAfterTimeLimit: LONGEST_MS, markInterruptAsFailure: true });

/**
 * Elysia requests a collection of all garbage whenever an application is compiled, three times per test.
 * A fifth of the tests' processor time went there. Collections that a test requires still run.
 */
const collect = Bun.gc;
Object.assign(Bun, { gc: (isRequired?: boolean) => (isRequired ? collect(true) : 0) });

/**
 * Wakes the event loop every 2 ms. While `expect(promise).rejects` or `.resolves` waits, each turn of Bun's
 * event loop sleeps until the next timer or input, though work of `setImmediate` is due: beside an open
 * server, 40 turns took 26 s, and take 80 ms with this timer.
 */
setInterval(() => undefined, 2).unref();
