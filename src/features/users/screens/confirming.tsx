/*
 * Confirmation of changes of the own account: by the password, and by a code of a user with a second factor.
 */
import type { FieldError } from "../../../base/errors";
import { type RequestContext, sessionOf } from "../../../http/request-context";
import { TextField } from "../../../ui/form";
import { passwordField } from "../../../ui/forms/fields";
import type { Field } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { NO_CODE } from "../../auth/screens/code";
import { waitText } from "../../auth/throttle";
import { readCode, type TypedCode } from "../rules";
import { authenticate } from "../sign-in";

export const currentPasswordField = passwordField({
  label: "Current password",
  autocomplete: "current-password",
});

/** Field for a code, which is never shown again. */
export function codeField(hint: string, inputmode?: "numeric"): Field<string, string> {
  return {
    label: "Code",
    initial: "",
    read: (sent, name) => sent.text(name),
    toBody: (typed) => typed,
    fromStored: () => "",
    Input: ({ name, errors }) => (
      <TextField
        label="Code"
        name={name}
        hint={hint}
        error={errors[name]}
        autocomplete="one-time-code"
        isShort
        inputmode={inputmode}
        required
      />
    ),
  };
}

/** Field for a code or a recovery code, with which a user confirms something. */
export const confirmingCodeField = codeField("Six digits from the app, or a recovery code.");

/** Returns the error of the field for a code. */
export function codeFieldError(detail: string, name = "code"): FieldError {
  return { pointer: `#/${name}`, detail };
}

/** Content of the fields of a form. */
interface Typed {
  password: string;
  code: string;
  /** False for a user without a second factor, whose code is not read. */
  needsCode: boolean;
}

/** Names of the fields of a form. */
type FieldNames = Record<"password" | "code", string>;

const FIELD_NAMES: FieldNames = { password: "password", code: "code" };

export type Confirmation = ReturnType<typeof createConfirmation>;

/** Creates the checks of what was typed. They use up no code and write nothing. */
export function createConfirmation({
  ctx,
  passwords,
  throttle,
}: Pick<AdminDependencies, "ctx" | "passwords" | "throttle">) {
  /**
   * Returns the error of the typed current password; undefined if the password is right. Attempts
   * are throttled by client address.
   */
  async function currentPasswordError(
    requestContext: RequestContext,
    password: string,
  ): Promise<string | undefined> {
    const { address } = requestContext;
    const { email } = sessionOf(requestContext).user;
    const seconds = throttle.takeAttempt(address);
    if (seconds > 0) return waitText(seconds);
    const credentials = { email, password, isConfirmation: true };
    const outcome = await authenticate(ctx, { passwords, throttle }, credentials, address);
    if (!("rejection" in outcome)) return undefined;
    return outcome.rejection === "wrong" ? "is wrong" : waitText(outcome.seconds);
  }

  /**
   * Verifies the typed password, and reads the code of a user who needs one. Returns the code for the transaction that
   * uses it up, or the error of a field.
   */
  async function confirmPasswordAndCode(
    requestContext: RequestContext,
    typed: Typed & { needsCode: true },
  ): Promise<{ code: TypedCode } | { error: FieldError }>;
  async function confirmPasswordAndCode(
    requestContext: RequestContext,
    typed: Typed,
    names?: FieldNames,
  ): Promise<{ code: TypedCode | undefined } | { error: FieldError }>;
  async function confirmPasswordAndCode(
    requestContext: RequestContext,
    typed: Typed,
    names = FIELD_NAMES,
  ): Promise<{ code: TypedCode | undefined } | { error: FieldError }> {
    const code = typed.needsCode ? readCode(typed.code) : undefined;
    if (typed.needsCode && !code) return { error: codeFieldError(NO_CODE, names.code) };
    const detail = await currentPasswordError(requestContext, typed.password);
    return detail === undefined ? { code } : { error: { pointer: `#/${names.password}`, detail } };
  }

  return { currentPasswordError, confirmPasswordAndCode };
}
