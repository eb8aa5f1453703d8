import type { Reader } from "../../db/statements";
import {
  type ComponentRow,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
} from "../../features/components/store";
import { listMonitorNames } from "../../features/monitors/overview-store";
import { findMonitor } from "../../features/monitors/store";
import { MONITORS_MAX } from "../../features/webhooks/wire";
import { CheckRows } from "../choices";
import type { Field } from "./form";

/** Number of components above which forms fold their groups. */
const UNFOLDED_MAX = 12;

/** Components of a page that a form lists, in page order, and their groups. */
export interface PageComponents {
  components: readonly Pick<ComponentRow, "id" | "name" | "groupId" | "status">[];
  groups: readonly Pick<GroupRow, "id" | "name">[];
}

export function readPageComponents(reader: Reader, pageId: string): PageComponents {
  return {
    components: listComponentsOfPage(reader, { pageId }),
    groups: listGroups(reader, { pageId }),
  };
}

/** Rows of a form that belong together. */
interface Part<Row> {
  key: string;
  title?: string | undefined;
  rows: readonly Row[];
}

/**
 * Returns a form's rows of components by group: those without a group first, without empty groups.
 * `isFolded` is true if there are so many that groups start folded.
 */
export function rowsByGroup<Row>(
  { components, groups }: PageComponents,
  toRow: (component: PageComponents["components"][number]) => Row,
): { parts: Part<Row>[]; isFolded: boolean } {
  const byGroup = Map.groupBy(components, ({ groupId }) => groupId);
  const rowsOf = (groupId: string | null) => (byGroup.get(groupId) ?? []).map(toRow);
  const parts = [
    { key: "", rows: rowsOf(null) },
    ...groups.map(({ id, name }) => ({ key: id, title: name, rows: rowsOf(id) })),
  ];
  return {
    parts: parts.filter(({ rows }) => rows.length > 0),
    isFolded: components.length > UNFOLDED_MAX,
  };
}

/** Field for the ids of components, with a checkbox for each; hidden if there are none. */
export function componentsField<Context>(options: {
  label?: string;
  hint: string;
  /** Error of an id that names none of the components. */
  unknown: string;
  partsOf(context: Context): readonly Part<{ id: string; name: string }>[];
}): Field<readonly string[], string[], Context> {
  const { label = "Components", hint, unknown, partsOf } = options;
  return {
    label,
    initial: [],
    read: (sent, name) => sent.all(name),
    toBody: (ids) => [...ids],
    fromStored: (ids) => ids,
    // The pointer of one id has its index.
    showError: ({ pointer, detail }) => ({
      detail: pointer.split("/").length > 2 ? unknown : detail,
    }),
    Input({ name, value, errors, context }) {
      const selected = new Set(value);
      const parts = partsOf(context).map(({ rows, ...part }) => ({
        ...part,
        options: rows.map((row) => ({
          value: row.id,
          label: row.name,
          isChecked: selected.has(row.id),
        })),
      }));
      const count = parts.flatMap((part) => part.options).length;
      if (count === 0 && errors[name] === undefined) return null;
      const isFolded = count > UNFOLDED_MAX;
      return <CheckRows legend={label} error={errors[name]} {...{ name, hint, parts, isFolded }} />;
    },
  };
}

/** Maximum number of monitors that a form lists, in addition to the selected ones. */
const LISTED_MAX = 500;

/** Monitor that can be selected. */
export type MonitorChoice = ReturnType<typeof listMonitorNames>[number];

/**
 * Reads the monitors that a form lists, by group and name, and those that are `selected`, stored ones first: all
 * of these, since saving the form removes those that it does not list.
 */
export function readMonitorChoices(
  reader: Reader,
  selected: readonly string[] = [],
): MonitorChoice[] {
  const listed = listMonitorNames(reader, { limit: LISTED_MAX });
  const ids = new Set(listed.map(({ id }) => id));
  const missing = [...new Set(selected)].filter((id) => !ids.has(id)).slice(0, MONITORS_MAX);
  const others = missing.flatMap((id) => {
    const row = findMonitor(reader, { id });
    return row ? [{ id, ref: row.ref, type: row.type, name: row.name, group: row.group }] : [];
  });
  return [...listed, ...others];
}

interface MonitorRowsProps {
  legend: string;
  name: string;
  hint?: string;
  error: string | undefined;
  choices: readonly MonitorChoice[];
  selected: readonly string[];
}

/** Checkboxes of monitors by group. */
export function MonitorRows({ choices, selected, ...field }: MonitorRowsProps) {
  const checked = new Set(selected);
  const groups = Map.groupBy(choices, ({ group }) => group);
  const parts = Array.from(groups, ([group, monitors]) => ({
    key: group ?? "",
    ...(group !== null && { title: group }),
    options: monitors.map(({ id, name }) => ({
      value: id,
      label: name,
      isChecked: checked.has(id),
    })),
  }));
  return <CheckRows {...field} parts={parts} isFolded={choices.length > UNFOLDED_MAX} />;
}

/** Field for the ids of monitors, with a checkbox for each. */
export function monitorsField<Context>(options: {
  label: string;
  hint: string;
  choicesOf(context: Context): readonly MonitorChoice[];
  /** Rewords the error of one monitor, to follow the label. */
  wordError(detail: string): string;
}): Field<readonly string[], string[], Context> {
  const { label, hint, choicesOf, wordError } = options;
  return {
    label,
    initial: [],
    read: (sent, name) => sent.all(name),
    // Sorted, so that a form with the same monitors changes nothing.
    toBody: (ids) => ids.toSorted(),
    fromStored: (ids) => ids,
    // The pointer of one monitor has its index.
    showError: ({ pointer, detail }) => ({
      detail: pointer.split("/").length > 2 ? wordError(detail) : detail,
    }),
    Input({ name, value, errors, context }) {
      const choices = choicesOf(context);
      const error = errors[name];
      if (choices.length === 0 && error === undefined) {
        return <p class="hint">There are no other monitors yet.</p>;
      }
      return <MonitorRows legend={label} selected={value} {...{ name, hint, error, choices }} />;
    },
  };
}
