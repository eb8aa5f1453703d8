/**
 * Error codes, the exception that carries one, and the validation that lists every broken field.
 * Independent of HTTP responses.
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
export { FieldErrors, type IsBroken } from "./field-errors";
