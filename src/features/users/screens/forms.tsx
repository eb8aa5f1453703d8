import { type Role, ROLE_SENTENCES, ROLES } from "../../../base/actor";
import { capitalised } from "../../../base/text";
import { RadioList } from "../../../ui/choices";
import { choiceField, nameField, textField } from "../../../ui/forms/fields";
import { defineForm } from "../../../ui/forms/form";
import type { NewUser } from "../wire";

const ROLE_OPTIONS = ROLES.map((role) => ({
  value: role,
  label: capitalised(role),
  hint: ROLE_SENTENCES[role],
}));

const roleField = choiceField<Role>({ label: "Role", initial: "editor", options: ROLE_OPTIONS });

/** Screen data of the form for a new user. */
interface InviteContext {
  /** True if the invitation is mailed. */
  isMailed: boolean;
}

const emailField = (hint: string) =>
  textField({ label: "E-mail", type: "email", hint, isRequired: true });

const MAILED = emailField("Used for signing in. The invitation is sent to this address.");

const NOT_MAILED = emailField(
  "Used for signing in. E-mail is not set up, so send the invitation link yourself.",
);

export const INVITE_FORM = defineForm<NewUser, InviteContext>()({
  email: {
    ...MAILED,
    Input: ({ context, ...props }) =>
      context.isMailed ? (
        <MAILED.Input {...props} context={context} />
      ) : (
        <NOT_MAILED.Input {...props} context={context} />
      ),
  },
  name: nameField({ hint: "The user can change it when joining." }),
  role: roleField,
});

const LAST_OWNER =
  "The last owner cannot get another role or be disabled. First make another user an owner.";

export const ROLE_FORM = defineForm<{ role: Role }, { isLastOwner: boolean }>()({
  role: {
    ...roleField,
    Input: ({ name, value, errors, context }) => (
      <RadioList
        legend="Role"
        isLegendHidden
        name={name}
        options={ROLE_OPTIONS}
        value={value}
        hint={context.isLastOwner ? LAST_OWNER : undefined}
        error={errors[name]}
      />
    ),
  },
});
