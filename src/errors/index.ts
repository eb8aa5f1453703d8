/**
 * What can go wrong and how it is said: the catalog of codes, the exception that carries one, and the
 * validation that lists every broken field. Knows nothing of HTTP answers.
 */
export { ERROR_CODES, ERRORS, type ErrorCode } from "./catalog";
export {
  conflict,
  type FieldError,
  invalidFields,
  invalidParameter,
  notFound,
  pointer,
  Problem,
  unavailable,
} from "./problem";
export { examine } from "./examine";
export { FieldErrors, type IsBroken } from "./field-errors";
export { schemaErrors, validate } from "./validation";
