import { plural } from "../../../base/text";
import { SIGN_IN_PATH } from "../../../http/caller";
import { Notice } from "../../../ui/blocks";
import { Button } from "../../../ui/buttons";
import { Actions, Form, TextField } from "../../../ui/form";
import { HOME_PATH } from "../../../ui/frame/paths";
import { FORGOT_PATH } from "../../users/forgot";
import { hiddenFieldsOf, type RefusedForm } from "./refused-form";

export interface SignInProps {
  email: string;
  /** Path to open after signing in. */
  next: string;
  error?: string;
  /** Form to return to, which was submitted after its session had ended. */
  kept?: RefusedForm | undefined;
  /** Set in the answer to a form or button whose session had ended. */
  refused?: "kept" | "lost" | "button";
  /** Public address, if the browser would not store the session cookie at the current address. */
  publicAddress?: string;
  hasUsers: boolean;
  /** True if users can ask for a link for a new password by mail. */
  canReset: boolean;
}

/** Path to which a sign-in page with a kept form is posted, so that a throttled attempt keeps it too. */
export const KEPT_SIGN_IN_PATH = `${SIGN_IN_PATH}?form=kept`;

/** Sign-in form. */
export function SignIn(props: SignInProps) {
  const { email, next, error, kept, refused, publicAddress, hasUsers, canReset } = props;
  return (
    <>
      {hasUsers ? null : (
        <Notice tone="maint" title="Allclear is not set up yet">
          Open the link that the server printed when it started. Restart the server to print a new
          link.
        </Notice>
      )}
      {publicAddress === undefined ? null : (
        <Notice tone="degraded" title="Signing in needs HTTPS">
          Browsers store the session cookie over HTTPS only. Sign in at{" "}
          <a href={`${publicAddress}${HOME_PATH}`}>{publicAddress}</a> instead. If that address is
          wrong, restart the server with the right <code>--base-url</code>.
        </Notice>
      )}
      {refused === undefined ? null : (
        <Notice tone="maint" title="Your session has ended">
          <Refused refused={refused} isPartial={kept?.isPartial ?? false} />
        </Notice>
      )}
      {error === undefined ? null : (
        <div role="alert">
          <Notice tone="major">
            {error}
            {kept ? " Your form is still kept." : ""}
          </Notice>
        </div>
      )}
      <Form
        action={kept ? KEPT_SIGN_IN_PATH : SIGN_IN_PATH}
        hidden={{ next, ...hiddenFieldsOf(kept) }}
      >
        <TextField
          label="E-mail"
          name="email"
          type="email"
          value={email}
          autocomplete="username"
          required
          autofocus={email === ""}
        />
        <TextField
          label="Password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
          autofocus={email !== ""}
        />
        <Actions>
          <Button kind="primary">Sign in</Button>
        </Actions>
      </Form>
      {canReset ? (
        <p class="muted">
          <a href={FORGOT_PATH}>Forgot your password?</a>
        </p>
      ) : (
        <p class="muted">
          Forgot your password? Ask an owner for a reset link (Settings → Users), or run{" "}
          <code>allclear user reset-password</code> on the server.
        </p>
      )}
    </>
  );
}

/** Explains what became of a form or button whose session had ended. */
function Refused({ refused, isPartial }: { refused: string; isPartial: boolean }) {
  switch (refused) {
    case "kept":
      return (
        <>
          Nothing was saved. Sign in to return to the form with what you typed
          {isPartial ? ", except for secrets and files" : ""}.
        </>
      );
    case "lost":
      return (
        <>
          Nothing was saved, and the form cannot be kept here.{" "}
          <a href={SIGN_IN_PATH} target="_blank">
            Sign in in another tab
          </a>
          , then go back with your browser's back button and submit the form again.
        </>
      );
    default:
      return <>Nothing was changed. Sign in, then try again.</>;
  }
}

/** Returns the sentence for a sign-in or a password check that was attempted too often. */
export function waitText(seconds: number): string {
  return `Too many attempts. Wait ${plural(seconds, "second")}, then try again.`;
}
