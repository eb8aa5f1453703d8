import type { ComponentRow, GroupRow } from "../../features/components";
import type { Form } from "../../http";
import type { ComponentStatus } from "../../kernel/component-status";
import { SelectRows, STATUS_WORDS, StatusLabel } from "../../ui";

/** What an incident can say of a component; maintenance is said by a maintenance. */
const SAID = ["operational", "degraded_performance", "partial_outage", "major_outage"] as const;

/** More components than these are folded by their groups. */
const SHOWN_AT_ONCE = 12;

interface ComponentImpactsProps {
  /** Those of the page, in its order. */
  components: readonly Pick<ComponentRow, "id" | "name" | "groupId" | "status">[];
  groups: readonly Pick<GroupRow, "id" | "name">[];
  /** Statuses by component id, as they were chosen; none for a component that is left alone. */
  chosen: Readonly<Record<string, string>>;
  error?: string | undefined;
  hint?: string | undefined;
  /** What it is called that nothing is said of a component. */
  unchangedLabel?: string;
}

/** Which components are affected, and how badly. Its field is called `components` in complaints. */
export function ComponentImpacts(props: ComponentImpactsProps) {
  const { components, groups, chosen, unchangedLabel = "Not affected" } = props;
  const byGroup = Map.groupBy(components, (component) => component.groupId);
  const rowsOf = (groupId: string | null) =>
    (byGroup.get(groupId) ?? []).map(({ id, name, status }) => ({
      name: impactField(id),
      label: name,
      note: status === "operational" ? undefined : <StatusLabel status={status} />,
      value: chosen[id] ?? "",
    }));
  const parts = [
    { key: "", rows: rowsOf(null) },
    ...groups.map(({ id, name }) => ({ key: id, title: name, rows: rowsOf(id) })),
  ];
  return (
    <SelectRows
      legend="Components"
      name="components"
      hint={props.hint}
      error={props.error}
      options={[
        { value: "", label: unchangedLabel },
        ...SAID.map((status) => ({ value: status, label: STATUS_WORDS[status] })),
      ]}
      parts={parts.filter(({ rows }) => rows.length > 0)}
      isFolded={components.length > SHOWN_AT_ONCE}
    />
  );
}

/**
 * Statuses by component id, as a form that shows `ComponentImpacts` was filled in. Only components that
 * are given are read; what is chosen for them is for the service to judge.
 */
export function readImpacts(
  form: Form,
  components: readonly Pick<ComponentRow, "id">[],
): Record<string, ComponentStatus> {
  const chosen = components
    .map(({ id }) => [id, form.text(impactField(id)) as ComponentStatus | ""] as const)
    .filter((pair): pair is [string, ComponentStatus] => pair[1] !== "");
  return Object.fromEntries(chosen);
}

function impactField(componentId: string): string {
  return `component:${componentId}`;
}
