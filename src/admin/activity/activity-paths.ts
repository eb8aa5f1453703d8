import { ACTIVITY_PATH } from "../paths";
import type { AuditPlace } from "../../events";
import { type ActivityFilter, writePlace } from "./listing";

export const ACTIVITY_FILE_PATH = `${ACTIVITY_PATH}.csv`;

/** Query parameters of the filter. */
const NAMES: Readonly<Record<keyof ActivityFilter, string>> = {
  search: "q",
  actor: "actor",
  action: "action",
  target: "target",
  from: "from",
  to: "to",
};

/**
 * Returns the path of the list, or of its CSV file. Without `before` it starts with the newest
 * entry.
 */
export function activityPath(
  filter: Partial<ActivityFilter>,
  { before, path = ACTIVITY_PATH }: { before?: AuditPlace; path?: string } = {},
): string {
  const query = new URLSearchParams();
  for (const [part, name] of Object.entries(NAMES)) {
    const value = filter[part as keyof ActivityFilter];
    if (value) query.set(name, value);
  }
  if (before !== undefined) query.set("before", writePlace(before));
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}
