import type { Static } from "@sinclair/typebox";
import { invalidFields } from "../../../base/errors";
import { COMPONENT_STATUSES, type ComponentStatus } from "../../../base/status";
import { toRef } from "../../../base/text";
import { STATUS_WORDS } from "../../../ui/blocks";
import {
  checkboxField,
  choiceField,
  descriptionField,
  nameField,
  selectField,
  tagsField,
  textAreaField,
  textField,
} from "../../../ui/forms/fields";
import { defineForm, type Field, InvalidInput, nullable, optional } from "../../../ui/forms/form";
import type { ComponentRow, GroupRow } from "../store";
import { COLLAPSE, type ComponentInput, type GroupInput, type UpdateComponentBody } from "../wire";

interface GroupsContext {
  /** Groups of the component's page. */
  groups: readonly Pick<GroupRow, "id" | "name">[];
}

const COMPONENT_FIELDS = {
  name: nameField({ hint: "Name on the page, such as “Website” or “Checkout API”." }),
  description: nullable(descriptionField({ hint: "Optional. Shown below the name on the page." })),
  group_id: nullable(groupField()),
  start_date: nullable(
    textField({
      label: "Uptime counts from",
      type: "date",
      hint: "Optional. A day in UTC. Earlier days show no data. Empty means the day on which the component was added.",
      isShort: true,
    }),
  ),
  showcase: checkboxField({
    label: "Show uptime history",
    hint: "A bar for each day, and the uptime as a percentage.",
    initial: true,
  }),
  show_latency: checkboxField({
    label: "Show response times",
    hint: "A chart of the last 24 hours. Needs a monitor that measures response times.",
  }),
  uptime_goal: nullable(goalField()),
  only_show_if_degraded: checkboxField({
    label: "Show only while not operational",
    hint: "For components that visitors need to see only when they fail.",
  }),
  tags: tagsField(),
};

/** Field for a goal in per cent, which may be typed with a comma and with its sign. */
function goalField(): Field<string, number> {
  return {
    ...textField({
      label: "Uptime goal",
      hint: "Optional. Per cent of a month, such as 99.9. The monthly report compares the uptime with it.",
      isShort: true,
    }),
    toBody(typed) {
      const text = typed.trim().replace(/\s?%$/, "").replace(",", ".");
      return /^\d{1,3}(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    },
    fromStored: String,
    showError: () => ({ detail: "must be a number from 1 to 100, such as 99.9" }),
  };
}

type ComponentFields = ComponentInput & { group_id?: string | null };

export const COMPONENT_FORM = defineForm<Omit<ComponentFields, "ref">, GroupsContext>()(
  COMPONENT_FIELDS,
);

export const NEW_COMPONENT_FORM = defineForm<ComponentFields, GroupsContext>()(
  { ...COMPONENT_FIELDS, ref: refField("checkout-api") },
  { advanced: ["ref"] },
);

/** Field for the ref of a new object, which is made from the name if it is left empty. */
function refField(example: string) {
  return optional(
    textField({
      label: "Reference",
      hint: `Identifies it in the API and in files, such as ${example}. If empty, it is made from the name.`,
      maxlength: 63,
    }),
  );
}

/** Throws `validation_failed` for a new object without a ref whose name gives none, as files do. */
export function requireRef({ ref, name }: { ref?: string; name: string }, example: string): void {
  if (ref !== undefined || toRef(name) !== "" || name.trim() === "") return;
  const detail = `must be entered, such as ${example}, because none can be made from this name`;
  throw invalidFields([{ pointer: "#/ref", detail }]);
}

/** Names that one form adds at most. */
const SEVERAL_MAX = 100;

/** Form for several new components, whose other settings are the usual ones. */
export const SEVERAL_FORM = defineForm<
  { name: string[]; group_id?: string | null },
  GroupsContext
>()({
  name: namesField({
    label: "Names",
    more: "They come last, in this order.",
    rows: 10,
    isRequired: true,
  }),
  group_id: nullable(groupField()),
});

const GROUP_FIELDS = {
  name: nameField({
    hint: "What its components have in common, such as “Europe” or “Payments”.",
  }),
  description: nullable(
    descriptionField({ hint: "Optional. Shown in the group, above the components." }),
  ),
  collapse: choiceField<(typeof COLLAPSE)[number]>({
    label: "Display on the page",
    initial: COLLAPSE[0],
    options: [
      { value: "expanded", label: "Expanded", hint: "All components are visible." },
      {
        value: "collapsed_unless_incident",
        label: "Expanded while something is wrong",
        hint: "Collapsed while all components are operational.",
      },
      {
        value: "collapsed",
        label: "Collapsed",
        hint: "Only the worst status is visible, unless a component has an outage.",
      },
    ],
  }),
};

export const GROUP_FORM = defineForm<Omit<GroupInput, "ref">>()(GROUP_FIELDS);

export const NEW_GROUP_FORM = defineForm<GroupInput>()(
  { ...GROUP_FIELDS, ref: refField("payments") },
  { advanced: ["ref"] },
);

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
      hint: "Optional. Shown in the history of the component, not on the page.",
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
    uptime_goal: row.uptimeGoal,
    tags: row.tags,
    only_show_if_degraded: row.onlyShowIfDegraded,
  };
}

/** Field for the group of a component. Hidden while the page has no groups. */
function groupField(): Field<string, string, GroupsContext> {
  const field = selectField<string, GroupsContext>({
    label: "Group",
    empty: "No group",
    options: ({ groups }) => groups.map(({ id, name }) => ({ value: id, label: name })),
    hint: "In a new group, the component comes last. You can change the order in the list of components.",
  });
  const isShown = (value: string, { groups }: GroupsContext) => groups.length > 0 || value !== "";
  return {
    ...field,
    Input: (props) => (isShown(props.value, props.context) ? <field.Input {...props} /> : null),
  };
}

/** Field for the names of several new components, one a line. */
export function namesField(
  options: Pick<Parameters<typeof textAreaField>[0], "label" | "rows" | "isRequired"> & {
    /** End of the hint. */
    more: string;
  },
): Field<string, string[]> {
  const { more, ...rest } = options;
  const hint = `One component a line, at most ${SEVERAL_MAX}. ${more}`;
  return {
    ...textAreaField({ ...rest, hint }),
    toBody(typed) {
      const names = typed.split("\n").flatMap((line) => line.trim() || []);
      if (names.length === 0) return new InvalidInput("is empty");
      if (names.length <= SEVERAL_MAX) return names;
      return new InvalidInput(`has ${names.length} lines; ${SEVERAL_MAX} is the most`);
    },
    fromStored: (names) => names.join("\n"),
  };
}
