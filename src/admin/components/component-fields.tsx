import type { GroupRow } from "../../features/components";
import { Checkbox, SelectField, TextArea, TextField } from "../../ui";
import type { Wording } from "../field-errors";
import { NameField } from "../name-field";
import { COMPONENT_LABELS as LABELS, type ComponentValues } from "./component-values";

/** Fields of a component, shared by the create and edit forms. */
export function ComponentFields(props: {
  values: ComponentValues;
  groups: readonly Pick<GroupRow, "id" | "name">[];
  wrong: Wording;
}) {
  const { values, groups, wrong } = props;
  return (
    <>
      <NameField
        value={values.name}
        hint="Name on the page, such as “Website” or “Checkout API”."
        wrong={wrong}
      />
      <TextArea
        label={LABELS.description}
        name="description"
        value={values.description}
        hint="Optional. Shown below the name on the page."
        error={wrong.about("description")}
        rows={2}
        maxlength={1_000}
      />
      {groups.length > 0 || values.group_id !== "" ? (
        <SelectField
          label={LABELS.group_id}
          name="group_id"
          options={[
            { value: "", label: "No group" },
            ...groups.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={values.group_id}
          hint="The component becomes the last of the new group. Change the order in the list of components."
          error={wrong.about("group_id")}
        />
      ) : null}
      <TextField
        label={LABELS.start_date}
        name="start_date"
        type="date"
        value={values.start_date}
        hint="Optional. A day in UTC; earlier days have no data. Empty means the day on which the component was added."
        error={wrong.about("start_date")}
        isShort
      />
      <Checkbox
        label={LABELS.showcase}
        name="showcase"
        hint="A bar for each day, and the uptime in percent."
        error={wrong.about("showcase")}
        isChecked={values.showcase}
      />
      <Checkbox
        label={LABELS.show_latency}
        name="show_latency"
        hint="The response times of the last 24 hours, where a monitor measures them."
        error={wrong.about("show_latency")}
        isChecked={values.show_latency}
      />
      <Checkbox
        label={LABELS.only_show_if_degraded}
        name="only_show_if_degraded"
        hint="For parts that readers need to see only when they fail."
        error={wrong.about("only_show_if_degraded")}
        isChecked={values.only_show_if_degraded}
      />
    </>
  );
}
