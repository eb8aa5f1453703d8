import fc from "fast-check";

/** Less than the time limit of a test, so that a failed property reports its example before that ends it. */
const LONGEST_MS = 25_000;

/** Ends the search of every property for smaller examples in time. A property that takes longer fails. */
fc.configureGlobal({ interruptAfterTimeLimit: LONGEST_MS, markInterruptAsFailure: true });
