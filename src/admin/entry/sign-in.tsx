import { SIGN_IN_PATH } from "../../http";
import { plural } from "../../kernel/text";
import { Actions, Button, Form, Notice, TextField } from "../../ui";
import { HOME_PATH } from "../paths";
import { hiddenFieldsOf, type RefusedForm } from "./refused-form";

export interface SignInProps {
  email: string;
  /** Path to open after signing in. */
  next: string;
  error?: string;
  /** Form to return to, which was submitted after its session had ended. */
  kept?: RefusedForm | undefined;
  /** Public address, if the browser would not store the session cookie at the current address. */
  publicAddress?: string;
  hasUsers: boolean;
}

/** Path to which a sign-in page with a kept form is posted, so that a throttled attempt knows of it. */
export const KEPT_SIGN_IN_PATH = `${SIGN_IN_PATH}?form=kept`;

/** Sign-in form. */
export function SignIn({ email, next, error, kept, publicAddress, hasUsers }: SignInProps) {
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
      {kept && error === undefined ? (
        <Notice tone="maint" title="Your session has ended">
          Nothing was saved. Sign in to return to the form with what you typed
          {kept.isPartial ? ", except for secrets and files" : ""}.
        </Notice>
      ) : null}
      {error === undefined ? null : (
        <div role="alert">
          <Notice tone="major">{error}</Notice>
        </div>
      )}
      <Form
        action={kept ? KEPT_SIGN_IN_PATH : SIGN_IN_PATH}
        hidden={{ next, ...hiddenFieldsOf(kept) }}
      >
        <TextField
          label="Email"
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
      <p class="muted">
        Forgot your password? Ask an owner for a reset link (Settings → Users), or run{" "}
        <code>allclear user reset-password</code> on the server.
      </p>
    </>
  );
}

/** Returns the sentence for a sign-in or a password check that was attempted too often. */
export function waitText(seconds: number): string {
  return `Too many attempts. Wait ${plural(seconds, "second")}, then try again.`;
}
