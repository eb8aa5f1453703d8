import type { ComponentInput, ComponentRow } from "../../features/components";
import type { Form } from "../../http";
import { multilineText } from "../multiline-text";

/** Typed values of the component form. */
export interface ComponentValues {
  name: string;
  description: string;
  /** Id of the group; empty for no group. */
  group_id: string;
  start_date: string;
  showcase: boolean;
  only_show_if_degraded: boolean;
  show_latency: boolean;
}

export const COMPONENT_LABELS = {
  name: "Name",
  description: "Description",
  group_id: "Group",
  start_date: "Uptime counts from",
  showcase: "Show days and uptime",
  only_show_if_degraded: "Show only while not operational",
  show_latency: "Show response times",
} as const satisfies Record<keyof ComponentValues, string>;

export function emptyComponent(groupId: string): ComponentValues {
  return {
    name: "",
    description: "",
    group_id: groupId,
    start_date: "",
    showcase: true,
    only_show_if_degraded: false,
    show_latency: false,
  };
}

export function storedComponent(row: ComponentRow): ComponentValues {
  return {
    name: row.name,
    description: row.description ?? "",
    group_id: row.groupId ?? "",
    start_date: row.startDate ?? "",
    showcase: row.showcase,
    only_show_if_degraded: row.onlyShowIfDegraded,
    show_latency: row.showLatency,
  };
}

export function readComponent(form: Form): ComponentValues {
  return {
    name: form.text("name"),
    description: multilineText(form, "description"),
    group_id: form.text("group_id"),
    start_date: form.text("start_date").trim(),
    showcase: form.text("showcase") !== "",
    only_show_if_degraded: form.text("only_show_if_degraded") !== "",
    show_latency: form.text("show_latency") !== "",
  };
}

type Asked = Required<Omit<ComponentInput, "ref">> & { groupId: string | null };

/** Converts form values to service input. The service validates them. */
export function toComponent(values: ComponentValues): Asked {
  return {
    name: values.name.trim(),
    description: values.description || null,
    groupId: values.group_id || null,
    start_date: values.start_date || null,
    showcase: values.showcase,
    only_show_if_degraded: values.only_show_if_degraded,
    show_latency: values.show_latency,
  };
}

/** Returns the fields whose values differ from the stored component. */
export function changesToComponent(row: ComponentRow, asked: Asked): Partial<Asked> {
  const present = toComponent(storedComponent(row));
  const changed = Object.entries(asked).filter(
    ([field, value]) => present[field as keyof Asked] !== value,
  );
  return Object.fromEntries(changed);
}
