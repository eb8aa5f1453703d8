import type { Reader } from "../../db/statements";
import { findMonitor } from "../../features/monitors/store";
import { listMonitorNames } from "../../features/monitors/overview-store";
import { MONITORS_MAX } from "../../features/webhooks/bodies";
import { CheckRows } from "../../ui/choices";
import type { Field } from "./field";

/** Maximum number of monitors that a form lists, in addition to the selected ones. */
const LISTED_MAX = 500;
/** Number of monitors above which forms fold their groups. */
const UNFOLDED_MAX = 12;

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
    return row ? [{ id, name: row.name, group: row.group }] : [];
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
