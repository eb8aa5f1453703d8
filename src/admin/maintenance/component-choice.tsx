import type { ComponentRow, GroupRow } from "../../features/components";
import { CheckRows } from "../../ui";

/** Components above which groups start folded. */
const SHOWN_AT_ONCE = 12;

/** Components of a page that can be selected, with their groups. */
export interface Choosable {
  components: readonly Pick<ComponentRow, "id" | "name" | "groupId">[];
  groups: readonly Pick<GroupRow, "id" | "name">[];
  /** Selected components that are no longer on the page. */
  gone?: readonly { id: string; name: string }[];
}

interface ComponentChoiceProps extends Choosable {
  legend: string;
  /** Ids of components. */
  chosen: readonly string[];
  error?: string | undefined;
}

/** Selects the affected components. Renders nothing for a page without components. */
export function ComponentChoice(props: ComponentChoiceProps) {
  const { components, groups, gone = [], legend, chosen, error } = props;
  if (components.length + gone.length === 0) return null;
  const isChosen = new Set(chosen);
  const byGroup = Map.groupBy(components, ({ groupId }) => groupId);
  const optionsOf = (found: readonly { id: string; name: string }[]) =>
    found.map(({ id, name }) => ({ value: id, label: name, isChecked: isChosen.has(id) }));
  const parts = [
    { key: "", options: optionsOf(byGroup.get(null) ?? []) },
    ...groups.map(({ id, name }) => ({
      key: id,
      title: name,
      options: optionsOf(byGroup.get(id) ?? []),
    })),
    { key: "gone", title: "No longer on the page", options: optionsOf(gone) },
  ];
  return (
    <CheckRows
      legend={legend}
      name="components"
      hint="They are shown under maintenance from its start to its end."
      error={error}
      parts={parts.filter(({ options }) => options.length > 0)}
      isFolded={components.length > SHOWN_AT_ONCE}
    />
  );
}
