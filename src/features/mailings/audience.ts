import type { Reader } from "../../db/statements";
import type { SubscriberEvent } from "../../base/mail-address";
import { reachOf, targetsOf } from "./reach";
import { countChoices, countChosen, listSubscriberCounts } from "./subscriber-store";

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
