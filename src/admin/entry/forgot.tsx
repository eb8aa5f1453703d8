import { FORGOT_PATH } from "../../features/users/forgot";
import { SIGN_IN_PATH } from "../../http/authorisation";
import { Actions, Form } from "../../ui/form";
import { Button, ButtonLink } from "../../ui/buttons";
import { defineForm, type StateOf } from "../../ui/forms/form";
import { FormFields, textField } from "../../ui/forms/fields";

/** Form for a forgotten password. */
export const FORGOT_FORM = defineForm<{ email: string }>()({
  email: textField({
    label: "E-mail",
    type: "email",
    autocomplete: "username",
    isRequired: true,
    autofocus: true,
  }),
});

/** Asks for the e-mail of a user who forgot the password. */
export function Forgot({ state }: { state: StateOf<typeof FORGOT_FORM> }) {
  return (
    <>
      <p class="muted">
        You get a link by e-mail with which you choose a new password. Your current password works
        until then.
      </p>
      <Form action={FORGOT_PATH}>
        <FormFields form={FORGOT_FORM} state={state} />
        <Actions>
          <Button kind="primary">Send link</Button>
          <ButtonLink href={SIGN_IN_PATH}>Back to sign in</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

/** Page after the form, which is the same for every address. */
export function ForgotSent() {
  return (
    <>
      <p>
        If a user signs in with this address, a mail is on its way. Open its link within an hour.
      </p>
      <p class="muted">
        At most three mails an hour are sent to a user. If none arrives, ask an owner for a reset
        link.
      </p>
      <Actions>
        <ButtonLink href={SIGN_IN_PATH}>Back to sign in</ButtonLink>
      </Actions>
    </>
  );
}

/** Page in place of the form while no mail can be sent, or an owner has turned it off. */
export function NoForgot() {
  return (
    <>
      <p>Allclear sends no links for new passwords by e-mail.</p>
      <p class="muted">
        Ask an owner for a reset link (Settings → Users), or run{" "}
        <code>allclear user reset-password</code> on the server.
      </p>
      <Actions>
        <ButtonLink href={SIGN_IN_PATH}>Back to sign in</ButtonLink>
      </Actions>
    </>
  );
}
