import type { Reader } from "../../db";
import { findComponent } from "../components";
import { findIncident } from "../incidents";
import { createMoments, headerText } from "../mail";
import { findMaintenance } from "../maintenance";
import type { PageRow } from "../pages";
import type { MailingRow } from "./store";

/** Maximum length of a subject with "Re: ", in code points. */
const SUBJECT_MAX = 150;
export const REPLY_PREFIX = "Re: ";

/** Returns the subject line that all mails about an object share, from its present name. */
export function subjectLineOf(
  reader: Reader,
  { kind, subjectId: id }: Pick<MailingRow, "kind" | "subjectId">,
  page: PageRow,
): string {
  if (kind.startsWith("maintenance.")) {
    const row = findMaintenance(reader, { id })?.row;
    const time = row ? ` ${createMoments(page).short(row.scheduledFor)}` : "";
    return subjectLine(page.name, `Maintenance${time}: ${row?.name ?? ""}`);
  }
  const name = kind.startsWith("incident.")
    ? findIncident(reader, { id })?.row.name
    : findComponent(reader, { id })?.name;
  return subjectLine(page.name, name ?? "");
}

/** Returns "[page] text" without control characters, in at most 146 code points. */
export function subjectLine(pageName: string, text: string): string {
  const line = headerText(`[${pageName}] ${text}`);
  const points = Array.from(line);
  const max = SUBJECT_MAX - REPLY_PREFIX.length;
  return points.length <= max
    ? line
    : `${points
        .slice(0, max - 1)
        .join("")
        .trimEnd()}…`;
}
