import type { ComponentRow, GroupRow } from "../../features/components";
import { CheckRows } from "../../ui";

/** More components than these are folded by their groups. */
const SHOWN_AT_ONCE = 12;

/** What can be chosen on a page. */
export interface Choosable {
  components: readonly Pick<ComponentRow, "id" | "name" | "groupId">[];
  groups: readonly Pick<GroupRow, "id" | "name">[];
  /** What was chosen before and is no longer on the page. */
  gone?: readonly { id: string; name: string }[];
}

interface ComponentChoiceProps extends Choosable {
  legend: string;
  /** Ids. */
  chosen: readonly string[];
  error?: string | undefined;
}

/** The components that are worked on. Nothing on a page that has none. */
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
