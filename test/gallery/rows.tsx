import { FieldRows, Form } from "../../src/ui/form";
import { Section } from "../../src/ui/blocks";

const OPTIONS = [
  { value: "status", label: "Status" },
  { value: "body", label: "Body" },
];

/** Lists with a row of controls for each item. */
export function GalleryRows({ path }: { path: string }) {
  return (
    <Section title="Rows of fields">
      <Form action={path}>
        <FieldRows
          legend="Conditions"
          name="conditions"
          hint="All of them must hold."
          error="Condition 2: the value must be a number."
          rows={[1, 2].map((number) => ({
            label: `Condition ${number}`,
            isWrong: number === 2,
            controls: [
              {
                kind: "select",
                name: `condition_${number}_source`,
                label: "Checked part",
                options: OPTIONS,
                value: "status",
              },
              { kind: "text", name: `condition_${number}_value`, label: "Value", value: "200" },
            ],
          }))}
        />
        <FieldRows
          legend="Headers"
          name="headers"
          rows={[
            {
              label: "Header 1",
              controls: [
                { kind: "fixed", name: "header_1_name", label: "Name", value: "Authorization" },
                {
                  kind: "text",
                  name: "header_1_value",
                  label: "Value",
                  value: "",
                  placeholder: "Set. Leave empty to keep it",
                },
                { kind: "check", name: "header_1_remove", label: "Remove", isChecked: false },
              ],
            },
          ]}
        />
      </Form>
    </Section>
  );
}
