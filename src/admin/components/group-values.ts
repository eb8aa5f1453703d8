import { COLLAPSE, type GroupInput, type GroupRow } from "../../features/components";
import type { Form } from "../../http";
import { multilineText } from "../multiline-text";

/** Typed values of the group form. */
export interface GroupValues {
  name: string;
  description: string;
  collapse: string;
}

export const GROUP_LABELS = {
  name: "Name",
  description: "Description",
  collapse: "On the page",
} as const satisfies Record<keyof GroupValues, string>;

export const EMPTY_GROUP: GroupValues = { name: "", description: "", collapse: COLLAPSE[0] };

export function storedGroup({ name, description, collapse }: GroupRow): GroupValues {
  return { name, description: description ?? "", collapse };
}

export function readGroup(form: Form): GroupValues {
  return {
    name: form.text("name"),
    description: multilineText(form, "description"),
    collapse: form.text("collapse"),
  };
}

type Asked = Required<Omit<GroupInput, "ref">>;

/** Converts form values to service input. The service validates them. */
export function toGroup({ name, description, collapse }: GroupValues): Asked {
  return {
    name: name.trim(),
    description: description || null,
    collapse: collapse as Asked["collapse"],
  };
}

/** Returns the fields whose values differ from the stored group. */
export function changesToGroup(row: GroupRow, asked: Asked): Partial<Asked> {
  const present = toGroup(storedGroup(row));
  const changed = Object.entries(asked).filter(
    ([field, value]) => present[field as keyof Asked] !== value,
  );
  return Object.fromEntries(changed);
}
