/** What a monitor demands of an answer: the schema of assertions, their judgement and their evaluation. */
export { firstFailure, type Observed } from "./evaluate";
export { judgeAssertions } from "./judge";
export { type Assertion, AssertionBody } from "./model";
