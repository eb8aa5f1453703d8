/**
 * Error codes, the exception `Problem`, which has one, and validation that lists all invalid fields.
 * HTTP responses are in `http/`.
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
export { examine, schemaErrors, validate } from "./examine";
export { FieldErrors, type IsInvalidField } from "./field-errors";
