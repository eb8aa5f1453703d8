import {
  Actions,
  Button,
  ButtonLink,
  Form,
  FormErrors,
  PageHead,
  RadioList,
  TextField,
} from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { NameField } from "../name-field";
import { USERS_PATH } from "../paths";
import { ROLE_CHOICES } from "./role-choice";

const LABELS = { email: "Email", name: "Name", role: "Role" };

/** Inviting somebody by a link. */
export function InviteForm(props: {
  values: { email: string; name: string; role: string };
  complaints: Complaints;
  formToken: string;
}) {
  const { values, complaints, formToken } = props;
  const wrong = wording(complaints, LABELS);
  return (
    <>
      <PageHead title="Invite user" crumbs={[{ href: USERS_PATH, label: "Users" }]} />
      <Form action={`${USERS_PATH}/new`} hidden={{ form: formToken }}>
        <FormErrors errors={wrong.all} />
        <TextField
          label="Email"
          name="email"
          type="email"
          value={values.email}
          hint="They sign in with it. Allclear sends no email; pass the link on yourself."
          error={wrong.about("email")}
          autocomplete="off"
          required
        />
        <NameField value={values.name} hint="They can change it when they join." wrong={wrong} />
        <RadioList
          legend="Role"
          name="role"
          options={ROLE_CHOICES}
          value={values.role}
          error={wrong.about("role")}
        />
        <Actions>
          <Button kind="primary">Create invitation link</Button>
          <ButtonLink href={USERS_PATH}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}
