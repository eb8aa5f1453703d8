import { DAY_MS } from "../../base/time";
import type { Assertion } from "../../features/monitors/assertions/assertions";
import { comparedNumber, type Comparison } from "./condition";

/** Parts of a monitor that one condition decides. Nothing at all if every check of its type demands it. */
export interface Meaning {
  assertions?: readonly Assertion[];
  /** True for a condition that is met if the check fails. */
  isInverted?: boolean;
  /** Time limit of a whole check, in ms. */
  timeoutMs?: number;
  /** Days that a certificate must still be valid. */
  certificateDays?: number;
  /** Days that the registration of the domain must still be valid, for a monitor of its own. */
  domainDays?: number;
  /** Record of an answer of the DNS, or text in a message. */
  expected?: string;
  /** Difference that remains, in one sentence. */
  difference?: string | undefined;
}

/** A condition without counterpart: the reason, as the end of a sentence. */
export interface NoMeaning {
  problem: string;
}

export const NEVER: NoMeaning = { problem: "Gatus never finds it met" };
export const UNKNOWN: NoMeaning = { problem: "it has no counterpart" };
export const MET: Meaning = {};

/** Ops of assertions, by the comparator. */
export const OPS = {
  "==": "eq",
  "!=": "ne",
  "<": "lt",
  "<=": "lte",
  ">": "gt",
  ">=": "gte",
} as const;

export type Order = Exclude<Comparison["comparator"], "==" | "!=">;

export function isOrder(comparator: Comparison["comparator"]): comparator is Order {
  return comparator !== "==" && comparator !== "!=";
}

/** Compares as Gatus does. */
export function isMet(left: number, comparator: Comparison["comparator"], right: number): boolean {
  switch (comparator) {
    case "==":
      return left === right;
    case "!=":
      return left !== right;
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
  }
}

export const FRACTION = "Gatus cuts off fractions, which count here.";

/** Reads `[CONNECTED]`, which every check demands. */
export function connectedMeaning({ comparator, value, subject }: Comparison): Meaning | NoMeaning {
  if (subject.wrapper !== undefined || isOrder(comparator)) return UNKNOWN;
  if (value !== "true" && value !== "false") return comparator === "==" ? NEVER : MET;
  const isWanted = (value === "true") === (comparator === "==");
  return isWanted ? MET : { isInverted: true };
}

/** Reads a time that must remain until an expiry, in whole days. */
export function remainingDays({
  comparator,
  value,
  subject,
}: Comparison): { days: number; op: "gte" | "lt"; difference?: string } | NoMeaning {
  const number = comparedNumber(value);
  if (subject.wrapper !== undefined || !isOrder(comparator) || !number) return UNKNOWN;
  const days = Math.floor(number.value / DAY_MS);
  const op = comparator === ">" || comparator === ">=" ? "gte" : "lt";
  const isExact = days * DAY_MS === number.value;
  return { days, op, ...(!isExact && { difference: "The time is cut to whole days." }) };
}

/** Reads `[DOMAIN_EXPIRATION]`. */
export function domainMeaning(comparison: Comparison): Meaning | NoMeaning {
  const read = remainingDays(comparison);
  if ("problem" in read) return read;
  const { days, op, difference } = read;
  return op === "gte" ? { domainDays: Math.min(Math.max(days, 0), 365), difference } : UNKNOWN;
}
