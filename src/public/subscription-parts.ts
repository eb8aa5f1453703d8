import { isRtlLocale } from "../features/mail/letter/letter";
import type { StatusDocument } from "../features/status/model";
import type { Choosable } from "../features/subscribers/choices";

/** Returns the components and groups of a page that its visitors see and can choose. */
export function choosableOf({ components, groups }: StatusDocument): Choosable {
  return {
    components: components.map(({ id, name, group_id: groupId }) => ({ id, name, groupId })),
    groups: groups.filter(({ id }) => components.some(({ group_id: groupId }) => groupId === id)),
  };
}

/** Returns the direction of text in a language. */
export function directionOf(locale: string): "ltr" | "rtl" {
  return isRtlLocale(locale) ? "rtl" : "ltr";
}
