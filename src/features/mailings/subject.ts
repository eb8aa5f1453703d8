import type { Reader } from "../../db/statements";
import { findComponent } from "../components/store";
import { findIncident } from "../incidents/store";
import { codePointLength } from "../../base/text";
import { createMoments } from "../mail/letter/moments";
import { headerText } from "../mail/header";
import { findMaintenance } from "../maintenance/store";
import type { PageRow } from "../pages/store";
import type { MailingRow } from "./store";

/** Maximum length of a subject with "Re: ", in code points. */
const SUBJECT_MAX = 150;
/** Maximum length of a page's name in a subject that is too long. */
const PAGE_NAME_MAX = 50;
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

/**
 * Returns "[page] text" without control characters, in at most 146 code points. If both do not fit, the page
 * has at most 50 of them.
 */
export function subjectLine(pageName: string, text: string): string {
  const max = SUBJECT_MAX - REPLY_PREFIX.length;
  const line = headerText(`[${pageName}] ${text}`);
  if (codePointLength(line) <= max) return line;
  return cut(headerText(`[${cut(pageName, PAGE_NAME_MAX)}] ${text}`), max);
}

function cut(text: string, max: number): string {
  const points = Array.from(text);
  return points.length <= max
    ? text
    : `${points
        .slice(0, max - 1)
        .join("")
        .trimEnd()}…`;
}
