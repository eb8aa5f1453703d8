import { notFound } from "../../base/errors";
import type { MailHold, SubscriberEvent } from "../../base/mail-address";
import { codePointLength } from "../../base/text";
import type { Reader } from "../../db/statements";
import { wordsOf } from "../../languages/words";
import { findComponent, listComponentsOfPage } from "../components/store";
import { getIncidentPart } from "../incidents/records";
import { findIncident } from "../incidents/store";
import { headerText } from "../mail/compose";
import { momentsOf } from "../mail/letter";
import { getMaintenanceRecord } from "../maintenance/records";
import { findMaintenance } from "../maintenance/store";
import type { PageRow } from "../pages/store";
import {
  countChoices,
  countChosen,
  findMailing,
  findThread,
  listSubscriberCounts,
  type MailingRow,
  MERGED,
  NOT_BEGUN,
} from "./store";

/** Returns a mailing. Throws `not_found`. */
export function getMailing(reader: Reader, id: string): MailingRow {
  const mailing = findMailing(reader, { id });
  if (!mailing) throw notFound("mailing");
  return mailing;
}

/** Returns the name of the object that a mailing is about; undefined once it is deleted. */
export function nameOfSubject(
  reader: Reader,
  { kind, subjectId: id }: Pick<MailingRow, "kind" | "subjectId">,
): string | undefined {
  if (kind.startsWith("incident.")) return findIncident(reader, { id })?.row.name;
  if (kind.startsWith("maintenance.")) return findMaintenance(reader, { id })?.row.name;
  return findComponent(reader, { id })?.name;
}

/** Returns the number of a mailing's mails that are neither sent nor over. */
export function waitingOf(mailing: MailingRow): number {
  const { written, sent, bounced, failed, superseded, cancelled, expired } = mailing;
  return written - sent - bounced - failed - superseded - cancelled - expired;
}

/** State of a mailing as people see it. */
export type MailingProgress =
  /** Until its window is over. */
  | "waiting"
  | "sending"
  /** Until an admin releases it, since the page had too many, or all mailings are held. */
  | "held"
  | "all_held"
  | "done"
  /** Its text is in the next mailing of its subject. */
  | "merged"
  /** Over before it began: too late, or not true any more. */
  | "not_begun"
  | "stopped";

/** Returns the state of a mailing at a time (unix ms), while all mailings are held or not. */
export function progressOf(
  { state, cursor, beginAt }: MailingRow,
  hold: MailHold | undefined,
  now: number,
): MailingProgress {
  if (state === "held" || state === "stopped") return state;
  if (state === "done") {
    if (cursor === MERGED) return "merged";
    return cursor === NOT_BEGUN ? "not_begun" : "done";
  }
  if (hold) return "all_held";
  return cursor === NOT_BEGUN && beginAt > now ? "waiting" : "sending";
}

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
    const time = row ? momentsOf(page).short(row.scheduledFor) : "";
    const { t } = wordsOf(page.locale);
    return subjectLine(page.name, t("mail.subject_maintenance", { time, name: row?.name ?? "" }));
  }
  const name = kind.startsWith("incident.")
    ? findIncident(reader, { id })?.row.name
    : findComponent(reader, { id })?.name;
  return subjectLine(page.name, name ?? "");
}

/** Returns true if a mailing has a subject in each language. Only subjects of maintenance have words to translate. */
export function hasSubjectsByLanguage(
  { kind }: Pick<MailingRow, "kind">,
  { languages }: Pick<PageRow, "languages">,
): boolean {
  return languages.length > 0 && kind.startsWith("maintenance.");
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

/** Number of choices up to which subscribers are counted one by one: some milliseconds. */
const COUNTED_MAX = 1_000;
/** Number of choices up to which they are an estimate. */
const ESTIMATED_MAX = 50_000;

/** Subscribers whom a mailing about components reaches. */
export interface Audience {
  /** Active subscribers of the page. */
  total: number;
  /** Those whom the mailing reaches, or the most that it can be if `isExact` is false. */
  reached: number;
  isExact: boolean;
  /** Subscribers of selections who chose such events, reached or not. */
  selections: number;
  /** The most that a mailing about other components reaches. */
  most: number;
}

/**
 * Counts the subscribers whom a mailing about components reaches. Takes a few milliseconds for any number: who
 * chose the whole page is counted when choices change, and of many selections the count is an upper bound.
 */
export function countAudience(
  reader: Reader,
  audience: { pageId: string; choice: SubscriberEvent; componentIds: readonly string[] },
): Audience {
  const { pageId, choice, componentIds } = audience;
  const counts = listSubscriberCounts(reader, { pageId });
  const sumOf = (isCounted: (count: (typeof counts)[number]) => boolean) =>
    counts.filter(isCounted).reduce((sum, { subscribers }) => sum + subscribers, 0);
  const total = sumOf(() => true);
  const ofPage = sumOf(({ scope, events }) => scope === "page" && events.includes(choice));
  const selections = sumOf(({ scope, events }) => scope === "selection" && events.includes(choice));
  const reachable = { total, selections, most: ofPage + selections };
  if (componentIds.length === 0 || selections === 0) {
    return { ...reachable, reached: ofPage, isExact: true };
  }
  const targets = JSON.stringify(targetsOf(reader, { pageId }, componentIds));
  const choices = countChoices(reader, { targets, limit: ESTIMATED_MAX })?.count ?? 0;
  if (choices <= COUNTED_MAX) {
    const event = JSON.stringify(choice);
    const chosen = countChosen(reader, { targets, choice: event })?.count ?? 0;
    return { ...reachable, reached: ofPage + chosen, isExact: true };
  }
  const chosenMost = choices < ESTIMATED_MAX ? Math.min(choices, selections) : selections;
  return { ...reachable, reached: ofPage + chosenMost, isExact: false };
}

/**
 * Counts the subscribers whom the next mailing about an incident or a maintenance reaches, if it names no component
 * but `further` ones. Undefined for a draft.
 */
export function countAudienceOf(
  reader: Reader,
  subject: { id: string; pageId: string; kind: "incident" | "maintenance" },
  further: readonly string[] = [],
): (Audience & { namesNone: boolean }) | undefined {
  const { id: subjectId, pageId, kind } = subject;
  const reach = reachOf(reader, { kind: `${kind}.updated`, subjectId });
  if (!reach) return undefined;
  const componentIds = [...new Set([...reach, ...further])];
  const choice = kind === "incident" ? "incidents" : "maintenance";
  const audience = countAudience(reader, { pageId, choice, componentIds });
  return { ...audience, namesNone: componentIds.length === 0 };
}

/**
 * Returns the ids of all components that the subject of a mailing has ever named; undefined if the subject is
 * not there any more.
 */
export function reachOf(
  reader: Reader,
  { kind, subjectId }: Pick<MailingRow, "kind" | "subjectId">,
): string[] | undefined {
  if (kind === "component.status_changed") return [subjectId];
  const stored = findThread(reader, { subjectId })?.reach ?? [];
  if (kind.startsWith("maintenance.")) {
    if (!findMaintenance(reader, { id: subjectId })) return undefined;
    const { components } = getMaintenanceRecord(reader, subjectId);
    return [...new Set([...stored, ...components.map(({ id }) => id)])];
  }
  if (findIncident(reader, { id: subjectId })?.row.draft !== false) return undefined;
  const { record } = getIncidentPart(reader, subjectId, { before: undefined, limit: 1 });
  return [...new Set([...stored, ...record.components.map(({ id }) => id)])];
}

/** Returns the ids by which selections include a mailing: its components, and the groups that they are in. */
export function targetsOf(
  reader: Reader,
  { pageId }: Pick<MailingRow, "pageId">,
  reach: readonly string[],
): string[] {
  const reached = new Set(reach);
  const targets = new Set(reach);
  for (const { id, groupId } of listComponentsOfPage(reader, { pageId })) {
    if (groupId !== null && reached.has(id)) targets.add(groupId);
  }
  return [...targets];
}
