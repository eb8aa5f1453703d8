import { Actions, Button, Form, Notice, TextField } from "../../ui";

export interface SignInScreen {
  email: string;
  /** Where to go afterwards. */
  next: string;
  complaint?: string;
  /** The public address, where a browser at this one would not keep the session. */
  elsewhere?: string;
  hasUsers: boolean;
}

/** Signing in. */
export function SignIn({ email, next, complaint, elsewhere, hasUsers }: SignInScreen) {
  return (
    <>
      {hasUsers ? null : (
        <Notice tone="info" title="Allclear is not set up yet">
          Open the link that the server printed when it started. Starting it again prints a new one.
        </Notice>
      )}
      {elsewhere === undefined ? null : (
        <Notice tone="warning" title="This is not the public address">
          A session begun here would not be kept. Sign in at{" "}
          <a href={`${elsewhere}/admin`}>{elsewhere}</a>.
        </Notice>
      )}
      {complaint === undefined ? null : (
        <div role="alert">
          <Notice tone="danger">{complaint}</Notice>
        </div>
      )}
      <Form action="/admin/sign-in" hidden={{ next }}>
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
        Forgotten? An owner can make a link for a new password under Settings, Users; so can{" "}
        <code>allclear user reset-password</code> on the server.
      </p>
    </>
  );
}
