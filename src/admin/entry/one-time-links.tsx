import { NAME_MAX } from "../../base/texts";
import { FORGOT_PATH } from "../../features/users/forgot";
import { SIGN_IN_PATH } from "../../http/authorisation";
import { Actions, Form } from "../../ui/form";
import { Button, ButtonLink } from "../../ui/buttons";
import { defineForm, type Field, type StateOf } from "../../ui/forms/form";
import { FormFields, passwordField, textField } from "../../ui/forms/fields";

/** Kind of a one-time link, as in its path: setting up Allclear, or choosing a password. */
export type LinkKind = "setup" | "join";

interface SetUpContext {
  /** True if a flag or an environment variable sets the public address, so that the form does not. */
  hasFixedAddress: boolean;
}

const addressField = textField({
  label: "Public address",
  type: "url",
  hint: "The address at which people and programs reach this server, used in links. If a wrong address locks you out, start the server with --base-url.",
  isRequired: true,
});

const publicAddressField: Field<string, string, SetUpContext> = {
  ...addressField,
  Input: (props) => (props.context.hasFixedAddress ? null : <addressField.Input {...props} />),
};

const ownNameField = textField({
  label: "Your name",
  autocomplete: "name",
  maxlength: NAME_MAX,
  isRequired: true,
  autofocus: true,
});

const newPassword = {
  label: "Password",
  hint: "At least 12 characters. A few unrelated words make a good password.",
  autocomplete: "new-password",
} as const;

interface FirstUser {
  name: string;
  email: string;
  password: string;
  public_address: string;
}

/** Form for the first user and the public address. */
export const SET_UP_FORM = defineForm<FirstUser, SetUpContext>()({
  name: ownNameField,
  email: textField({ label: "E-mail", type: "email", autocomplete: "username", isRequired: true }),
  password: passwordField(newPassword),
  public_address: publicAddressField,
});

/** Form to accept an invitation. */
export const JOIN_FORM = defineForm<{ name: string; password: string }>()({
  name: ownNameField,
  password: passwordField(newPassword),
});

/** Form to choose a new password. */
const RESET_FORM = defineForm<{ password: string }>()({
  password: passwordField({ ...newPassword, autofocus: true }),
});

/** Set-up form, opened by the link that the server printed. */
export function SetUp({ action, state }: { action: string; state: StateOf<typeof SET_UP_FORM> }) {
  return (
    <>
      <p class="muted">You become the owner and can then invite other users.</p>
      <Form action={action}>
        <FormFields form={SET_UP_FORM} state={state} />
        <Actions>
          <Button kind="primary">Set up</Button>
        </Actions>
      </Form>
    </>
  );
}

/** Form for choosing a password, opened by a one-time link. An invitation asks for the name too. */
export function Join(props: {
  action: string;
  email: string;
  isInvitation: boolean;
  state: StateOf<typeof JOIN_FORM>;
}) {
  const { action, email, isInvitation, state } = props;
  return (
    <>
      <p class="muted">
        {isInvitation
          ? `You were invited as ${email}.`
          : `Choose a new password for ${email}. Saving signs you out on all devices.`}
      </p>
      <Form action={action}>
        {isInvitation ? (
          <FormFields form={JOIN_FORM} state={state} />
        ) : (
          <FormFields form={RESET_FORM} state={state} />
        )}
        <Actions>
          <Button kind="primary">{isInvitation ? "Join" : "Set password"}</Button>
        </Actions>
      </Form>
    </>
  );
}

/** Page of a one-time link that was used, has expired, or was replaced. */
export function DeadLink({ kind, canReset }: { kind: LinkKind; canReset: boolean }) {
  return (
    <>
      <p>
        The link was already used, was replaced by a newer one, or has expired.{" "}
        {kind === "setup"
          ? "If Allclear is not set up yet, restart the server, which prints a new link."
          : "Ask an owner for a new one."}
      </p>
      {kind === "join" && canReset ? (
        <p>
          If you have a password already, you can{" "}
          <a href={FORGOT_PATH}>get a link for a new one by e-mail</a>.
        </p>
      ) : null}
      <Actions>
        <ButtonLink href={SIGN_IN_PATH}>Sign in</ButtonLink>
      </Actions>
    </>
  );
}
