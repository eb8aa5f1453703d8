import { Actions, Form, TextField } from "../../src/ui/form";
import { Button } from "../../src/ui/buttons";
import { CheckboxList, ChoiceField, SelectField } from "../../src/ui/choices";
import { ErrorSummary, Section } from "../../src/ui/blocks";

/** A rejected form with an error in every field. */
export function GalleryWrongForm({ path }: { path: string }) {
  return (
    <Section title="A form that was refused">
      <Form action={path}>
        <ErrorSummary
          autofocus={false}
          errors={[
            { name: "email", label: "Email", detail: "belongs to another user" },
            { name: "password", label: "Password", detail: "is shorter than 12 characters" },
            { name: "pages", label: "Pages", detail: "needs at least one" },
          ]}
        />
        <TextField
          label="Email"
          name="email"
          type="email"
          value="ada@northwind.example"
          error="belongs to another user"
          autocomplete="email"
        />
        <TextField
          label="Password"
          name="password"
          type="password"
          hint="At least 12 characters."
          error="is shorter than 12 characters"
          autocomplete="new-password"
        />
        <CheckboxList
          legend="Pages"
          name="pages"
          error="needs at least one"
          options={[
            { value: "store", label: "Store", isChecked: false },
            { value: "warehouse", label: "Warehouse", isChecked: false },
          ]}
        />
        <ChoiceField
          legend="Overlap"
          name="overlap"
          value="hour"
          error="The key expires before that."
          options={[
            { value: "now", label: "End it now" },
            { value: "hour", label: "1 hour" },
          ]}
        />
        <SelectField
          label="Time zone"
          name="time_zone"
          value="utc"
          options={[{ value: "utc", label: "UTC" }]}
          error="is not known"
        />
        <Actions>
          <Button kind="primary">Invite user</Button>
        </Actions>
      </Form>
    </Section>
  );
}
