import {
  COLLAPSE,
  type ComponentInput,
  type ComponentRow,
  type GroupInput,
  type GroupRow,
  type UpdateComponentBody,
} from "../../features/components";
import type { Static } from "@sinclair/typebox";
import { COMPONENT_STATUSES, type ComponentStatus } from "../../domain/component-status";
import { STATUS_WORDS } from "../../ui";
import { checkboxField, choiceField, selectField } from "../forms/choice-fields";
import { type Field, nullable } from "../forms/field";
import { defineForm } from "../forms/form";
import { descriptionField, nameField, textField } from "../forms/text-fields";

interface GroupsContext {
  /** Groups of the component's page. */
  groups: readonly Pick<GroupRow, "id" | "name">[];
}

export const COMPONENT_FORM = defineForm<
  Omit<ComponentInput, "ref"> & { group_id?: string | null },
  GroupsContext
>()({
  name: nameField({ hint: "Name on the page, such as “Website” or “Checkout API”." }),
  description: nullable(descriptionField({ hint: "Optional. Shown below the name on the page." })),
  group_id: nullable(groupField()),
  start_date: nullable(
    textField({
      label: "Uptime counts from",
      type: "date",
      hint: "Optional. A day in UTC; earlier days have no data. Empty means the day on which the component was added.",
      isShort: true,
    }),
  ),
  showcase: checkboxField({
    label: "Show days and uptime",
    hint: "A bar for each day, and the uptime in percent.",
    initial: true,
  }),
  show_latency: checkboxField({
    label: "Show response times",
    hint: "The response times of the last 24 hours, where a monitor measures them.",
  }),
  only_show_if_degraded: checkboxField({
    label: "Show only while not operational",
    hint: "For parts that readers need to see only when they fail.",
  }),
});

export const GROUP_FORM = defineForm<Omit<GroupInput, "ref">>()({
  name: nameField({
    hint: "What the components have in common, such as “Europe” or “Payments”.",
  }),
  description: nullable(
    descriptionField({ hint: "Optional. Shown in the group, above the components." }),
  ),
  collapse: choiceField<(typeof COLLAPSE)[number]>({
    label: "On the page",
    initial: COLLAPSE[0],
    options: [
      { value: "expanded", label: "Open", hint: "All components are visible." },
      {
        value: "collapsed_unless_incident",
        label: "Open while something is wrong",
        hint: "Closed while all components are operational.",
      },
      {
        value: "collapsed",
        label: "Closed",
        hint: "Only the worst status is visible until a reader opens the group.",
      },
    ],
  }),
});

export const STATUS_FORM = defineForm<Static<typeof UpdateComponentBody>>()({
  status: choiceField<ComponentStatus>({
    label: "Status",
    initial: "operational",
    isList: true,
    options: COMPONENT_STATUSES.map((value) => ({ value, label: STATUS_WORDS[value] })),
  }),
  reason: nullable(
    descriptionField({
      label: "Reason",
      hint: "Optional. Kept in the component's history; the page does not show it.",
    }),
  ),
});

/** Returns the stored values of a component, by field. */
export function componentResource(row: ComponentRow) {
  return {
    name: row.name,
    description: row.description,
    group_id: row.groupId,
    start_date: row.startDate,
    showcase: row.showcase,
    show_latency: row.showLatency,
    only_show_if_degraded: row.onlyShowIfDegraded,
  };
}

/** Field for the group of a component. Hidden while the page has no groups. */
function groupField(): Field<string, string, GroupsContext> {
  const field = selectField<string, GroupsContext>({
    label: "Group",
    empty: "No group",
    options: ({ groups }) => groups.map(({ id, name }) => ({ value: id, label: name })),
    hint: "The component becomes the last of the new group. Change the order in the list of components.",
  });
  const isShown = (value: string, { groups }: GroupsContext) => groups.length > 0 || value !== "";
  return {
    ...field,
    Input: (props) => (isShown(props.value, props.context) ? <field.Input {...props} /> : null),
  };
}
