import type { ComponentRow, GroupRow } from "../../features/components";
import type { Form } from "../../http";
import type { ComponentStatus } from "../../domain/component-status";
import { SelectRows, STATUS_WORDS, StatusLabel } from "../../ui";

/** Statuses that an incident can set. `under_maintenance` is set by maintenance only. */
const SAID = ["operational", "degraded_performance", "partial_outage", "major_outage"] as const;

/** Components above which groups start folded. */
const SHOWN_AT_ONCE = 12;

interface ComponentImpactsProps {
  /** Components of the page, in page order. */
  components: readonly Pick<ComponentRow, "id" | "name" | "groupId" | "status">[];
  groups: readonly Pick<GroupRow, "id" | "name">[];
  /** Selected statuses by component id; unaffected components are missing. */
  chosen: Readonly<Record<string, string>>;
  error?: string | undefined;
  hint?: string | undefined;
  /** Label of the option that leaves a component unchanged; "Not affected" by default. */
  unchangedLabel?: string;
}

/** Selects the affected components and their statuses. Errors use the field name `components`. */
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
 * Reads the statuses from a submitted `ComponentImpacts`, by component id. Only the given
 * components are read; the service validates the statuses.
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
