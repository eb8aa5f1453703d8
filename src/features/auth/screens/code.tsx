/*
 * The page between password and session, for users with a second factor. Its routes are in `sign-in-routes.tsx`.
 */
import { plural } from "../../../base/text";
import { MINUTE_MS, SECOND_MS } from "../../../base/time";
import { SIGN_IN_PATH } from "../../../http/caller";
import { Fold } from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import { Actions, Form, TextField } from "../../../ui/form";
import type { CodeRejection } from "../../users/second-factors";
import { hiddenFieldsOf, type RefusedForm, SignInError } from "./refused-form";

export const CODE_PATH = `${SIGN_IN_PATH}/code`;

/** Error of a text that is no code. */
export const NO_CODE = "Type the six digits of the app, or the 16 characters of a recovery code.";

/** Returns the error of a code, with the seconds until the end of a pause. */
export function codeError(
  outcome: CodeRejection,
  now: number,
): { error: string; seconds?: number } {
  switch (outcome.rejection) {
    case "wrong":
      return {
        error: outcome.isRecoveryCode
          ? "This recovery code is wrong, or was used before."
          : "The code is wrong. Type the one that the app shows now.",
      };
    case "used":
      return { error: "This code was used before. Wait for the next one." };
    case "paused": {
      const leftMs = outcome.until - now;
      const wait = plural(Math.ceil(leftMs / MINUTE_MS), "minute");
      return {
        error: `Too many wrong codes. Codes are refused for ${wait}; recovery codes still work.`,
        seconds: Math.ceil(leftMs / SECOND_MS),
      };
    }
  }
}

/** Form for the code. */
export function CodePage(props: {
  /** Path to open after signing in. */
  next: string;
  /** Form to return to. */
  kept?: RefusedForm | undefined;
  error?: string;
  /** True if a recovery code was typed. */
  usesRecoveryCode?: boolean;
}) {
  const { next, kept, error, usesRecoveryCode = false } = props;
  return (
    <>
      {error === undefined ? (
        <p class="muted">Your authenticator app shows the code for this server.</p>
      ) : (
        <SignInError error={error} kept={kept} />
      )}
      <Form action={CODE_PATH} hidden={{ next, ...hiddenFieldsOf(kept) }}>
        <TextField
          label="Code"
          name="code"
          hint="Six digits"
          inputmode="numeric"
          autocomplete="one-time-code"
          isShort
          autofocus={!usesRecoveryCode}
        />
        <Fold title="Use a recovery code" isOpen={usesRecoveryCode}>
          <TextField
            label="Recovery code"
            name="recovery_code"
            hint="16 characters. Each recovery code works once."
            autocomplete="off"
            autofocus={usesRecoveryCode}
          />
        </Fold>
        <Actions>
          <Button kind="primary">Sign in</Button>
          <ButtonLink href={SIGN_IN_PATH}>Start again</ButtonLink>
        </Actions>
      </Form>
      <p class="muted">
        Without the app and recovery codes, ask an owner to reset your second factor (Settings →
        Users), or run <code>allclear user reset-second-factor</code> on the server.
      </p>
    </>
  );
}
