import { Actions, Button, Form, FormErrors, Section, TextField } from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { NameField } from "../name-field";
import { keyPath } from "../paths";

const LABELS = { name: "Name", rate_limit: "Rate limit" };

/** What of a key can still be changed. */
export function EditForm(props: {
  id: string;
  values: { name: string; rateLimit: string };
  complaints: Complaints;
}) {
  const { id, values, complaints } = props;
  const wrong = wording(complaints, LABELS);
  return (
    <Section title="Name and limit">
      <Form action={keyPath(id)}>
        <FormErrors errors={wrong.all} />
        <NameField value={values.name} wrong={wrong} />
        <TextField
          label={LABELS.rate_limit}
          name="rate_limit"
          value={values.rateLimit}
          hint="Requests a minute, 1 to 1,000,000. A change counts from the next request on."
          error={wrong.about("rate_limit")}
          inputmode="numeric"
          autocomplete="off"
          isShort
          required
        />
        <Actions>
          <Button kind="primary">Save changes</Button>
        </Actions>
      </Form>
    </Section>
  );
}
