/** Conditions on HTTP responses: their schema, validation and evaluation. */
export { checkAssertions, needBody, type Observed } from "./check";
export { AssertionEvaluator, type Evaluated } from "./evaluator";
export { validateAssertions } from "./validate";
export { type Assertion, AssertionBody } from "./model";
export { patternProblem } from "./pattern";
export { certificateSentence } from "./words";
