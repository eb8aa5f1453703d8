import { NAMED_STATUSES, type NamedStatus } from "../../domain/component-status";
import type { Incident } from "../../features/incidents/model";
import type { PageRow } from "../../features/pages/store";
import { SelectRows } from "../../ui/selects";
import { STATUS_WORDS, StatusLabel } from "../../ui/labels";
import { type PageComponents, rowsByGroup } from "../forms/components-field";
import type { Field } from "../forms/field";
import { componentsOfPagePath } from "../paths";

/** Returns the selected status of a component by id; empty for one that is not affected. */
type SelectedStatuses = (componentId: string) => string;

interface ComponentContext extends PageComponents {
  page: Pick<PageRow, "name" | "slug">;
}

type ComponentStatusesField<Context> = Field<
  SelectedStatuses,
  Record<string, NamedStatus>,
  Context
>;

/**
 * Field for the statuses of affected components, with a menu for each component of the page. Other
 * components are ignored; the service validates the statuses.
 */
export function componentStatusesField(options: {
  /** Label of the option that leaves a component unchanged. */
  unchanged: string;
  hint?: string;
}): ComponentStatusesField<PageComponents> {
  const { unchanged, hint } = options;
  return {
    label: "Components",
    initial: () => "",
    read: (sent) => (id) => sent.text(inputOf(id)),
    toBody: (selected, { components }) =>
      Object.fromEntries(
        components
          .map(({ id }) => [id, selected(id) as NamedStatus | ""] as const)
          .filter((pair): pair is [string, NamedStatus] => pair[1] !== ""),
      ),
    fromStored: (statuses) => (id) => statuses[id] ?? "",
    Input: ({ name, value: selected, errors, context }) => (
      <SelectRows
        legend="Components"
        name={name}
        hint={hint}
        error={errors[name]}
        options={optionsWith(unchanged)}
        {...rowsByGroup(context, rowOf(selected))}
      />
    ),
  };
}

function optionsWith(unchanged: string) {
  return [
    { value: "", label: unchanged },
    ...NAMED_STATUSES.map((status) => ({ value: status, label: STATUS_WORDS[status] })),
  ];
}

/** Returns a function that makes the row of a component, with its current status as note. */
const rowOf =
  (selected: SelectedStatuses) =>
  ({ id, name, status }: PageComponents["components"][number]) => ({
    name: inputOf(id),
    label: name,
    note:
      status === "operational" ? undefined : (
        <span class="row-was">
          Now <StatusLabel status={status} />
        </span>
      ),
    value: selected(id),
  });

/** Returns the name of the input for the status of a component. */
export function inputOf(componentId: string): string {
  return `component:${componentId}`;
}

/** Field for the components that a new incident affects. */
export function affectedComponentsField(): ComponentStatusesField<ComponentContext> {
  const field = componentStatusesField({ unchanged: "Not affected" });
  return {
    ...field,
    Input(props) {
      const { components, page } = props.context;
      if (components.length > 0) return field.Input(props);
      return (
        <p class="muted">
          <a href={componentsOfPagePath(page.slug)}>{page.name} has no components yet</a>, so the
          incident changes no component status.
        </p>
      );
    },
  };
}

/**
 * Field for the components whose statuses an update changes: those of the incident, and the others in
 * a fold.
 */
export function changedComponentsField(): ComponentStatusesField<
  PageComponents & { incident: Pick<Incident, "components" | "status"> }
> {
  const unchanged = "No change";
  const field = componentStatusesField({ unchanged });
  return {
    ...field,
    Input({ name, value: selected, errors, context }) {
      const { incident, components, groups } = context;
      if (components.length === 0) return null;
      const named = new Set(incident.components.map(({ id }) => id));
      const toRow = rowOf(selected);
      const own = components.filter(({ id }) => named.has(id));
      const others = rowsByGroup(
        { components: components.filter(({ id }) => !named.has(id)), groups },
        toRow,
      );
      return (
        <SelectRows
          legend="Components"
          name={name}
          hint={
            own.length > 0 && incident.status !== "resolved"
              ? "Resolving the incident ends all component statuses that it set."
              : undefined
          }
          error={errors[name]}
          options={optionsWith(unchanged)}
          parts={own.length === 0 ? [] : [{ key: "own", rows: own.map(toRow) }]}
          more={{ title: "Add component", ...others }}
        />
      );
    },
  };
}

/** Returns the ids of the components of a form that have a status in it. */
export function affectedIds({
  values,
  context,
}: {
  values: { components: SelectedStatuses };
  context: PageComponents;
}): string[] {
  return context.components.map(({ id }) => id).filter((id) => values.components(id) !== "");
}

/** Statuses with which a form for an incident proposes a component. */
const PROPOSED = ["degraded_performance", "partial_outage", "major_outage"] as const;

/**
 * Returns the statuses with which the form for a new incident starts, for components that a link names
 * (ids, separated by commas): their current statuses, or degraded performance without a problem.
 */
export function presetStatuses(
  ids: string | undefined,
  components: PageComponents["components"],
): SelectedStatuses {
  const named = new Set(ids?.split(","));
  const statuses = new Map<string, string>(
    components
      .filter(({ id }) => named.has(id))
      .map(({ id, status }) => [id, PROPOSED.find((each) => each === status) ?? PROPOSED[0]]),
  );
  return (id) => statuses.get(id) ?? "";
}
