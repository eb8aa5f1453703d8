import { CheckRows } from "../../ui";
import type { Field } from "../forms/field";
import { type PageComponents, rowsByGroup } from "../timeline/timeline-view";

interface ComponentsContext extends PageComponents {
  /** Selected components that are no longer on the page. */
  gone?: readonly { id: string; name: string }[];
}

/** Field for the ids of the affected components; hidden for a page without components. */
export const componentsField: Field<readonly string[], string[], ComponentsContext> = {
  label: "Components",
  initial: [],
  showError: () => ({ detail: "Select components of the page." }),
  read: (sent, name) => sent.all(name),
  // The order of components is no change.
  toBody: (ids) => ids.toSorted(),
  fromStored: (ids) => ids,
  Input({ name, value, errors, context }) {
    const { components, gone = [] } = context;
    if (components.length + gone.length === 0) return null;
    const selected = new Set(value);
    const toOption = ({ id, name: label }: { id: string; name: string }) => ({
      value: id,
      label,
      isChecked: selected.has(id),
    });
    const { parts, isFolded } = rowsByGroup(context, toOption);
    const gonePart = { key: "gone", title: "No longer on the page", rows: gone.map(toOption) };
    return (
      <CheckRows
        legend="Components"
        name={name}
        hint="Their status is “Under maintenance” from start to end."
        error={errors[name]}
        parts={[...parts, ...(gone.length > 0 ? [gonePart] : [])].map(({ rows, ...part }) => ({
          ...part,
          options: rows,
        }))}
        isFolded={isFolded}
      />
    );
  },
};
