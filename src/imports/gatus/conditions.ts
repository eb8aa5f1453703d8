import type { ImportChange } from "../../base/import-report";
import { oneLine } from "../../base/text";
import type { Assertion } from "../../features/monitors/assertions/assertions";
import { comparedNumber, type Comparison, parseCondition, patOf, type Source } from "./condition";
import {
  bodyMeaning,
  certificateMeaning,
  jsonMeaning,
  latencyMeaning,
  statusMeaning,
} from "./http-conditions";
import {
  connectedMeaning,
  domainMeaning,
  type Meaning,
  MET,
  type NoMeaning,
  remainingDays,
  UNKNOWN,
} from "./meaning";
import { readPattern } from "./pattern";

/** Types of monitors that endpoints become. */
export type EndpointType =
  "http" | "tcp" | "tls" | "ping" | "dns" | "websocket" | "grpc" | "ssh" | "smtp";

interface ConditionRow {
  /** Conditions, as examples. */
  conditions: readonly string[];
  becomes: string;
  read(comparison: Comparison, type: EndpointType): Meaning | NoMeaning;
}

/** Values that conditions compare, and what becomes of each. */
export const CONDITIONS: Readonly<Record<Source, ConditionRow>> = {
  status: {
    conditions: ["[STATUS] == 200", "[STATUS] == any(200, 429)", "[STATUS] < 300"],
    becomes:
      "Assertions on `status`, with `eq`, `in`, `lt` and so on; patterns as ranges. Without a condition about it `status gte 100`, since monitors without one demand 2xx.",
    read: (comparison, type) =>
      type === "http" ? statusMeaning(comparison) : statusElsewhere(comparison),
  },
  latency: {
    conditions: ["[RESPONSE_TIME] < 500"],
    becomes:
      "`latency lt 500`, which includes reading the body. Other types than `http`: the time limit of a check.",
    read: (comparison, type) =>
      type === "http" ? latencyMeaning(comparison) : timeLimitMeaning(comparison),
  },
  certificate: {
    conditions: ["[CERTIFICATE_EXPIRATION] > 48h"],
    becomes:
      "`certificate_days gte 2`, down to whole days. For `tls` its days; for mail servers a warning.",
    read(comparison, type) {
      if (type === "http") return certificateMeaning(comparison);
      return type === "tls" || type === "smtp" ? validityMeaning(comparison, type) : UNKNOWN;
    },
  },
  domain: {
    conditions: ["[DOMAIN_EXPIRATION] > 720h"],
    becomes: "A monitor of the type `domain` on the same component, which warns from then on.",
    read: domainMeaning,
  },
  connected: {
    conditions: ["[CONNECTED] == true", "[CONNECTED] == false"],
    becomes: "Nothing, since every check demands it; `false` alone is `inverted`.",
    read: connectedMeaning,
  },
  rcode: {
    conditions: ["[DNS_RCODE] == NOERROR"],
    becomes: "Nothing, since the check demands it. Switched off with another code.",
    read: ({ subject, comparator, value }, type) =>
      type === "dns" &&
      subject.wrapper === undefined &&
      comparator === "==" &&
      value.toUpperCase() === "NOERROR"
        ? MET
        : UNKNOWN,
  },
  body: {
    conditions: ["[BODY] == pat(*ok*)", "[BODY] == ok", "len([BODY]) > 0"],
    becomes:
      "`body contains`, or `matches` with the pattern as a regular expression. For `dns` a record that the answer must have, for web sockets a text in the first message.",
    read(comparison, type) {
      if (type === "http") return bodyMeaning(comparison);
      if (type === "dns") return recordMeaning(comparison);
      return type === "websocket" ? messageMeaning(comparison) : UNKNOWN;
    },
  },
  json: {
    conditions: [
      "[BODY].a.b[0] == x",
      "[BODY].a == any(x, y)",
      "len([BODY].a) == 3",
      "has([BODY].a) == true",
    ],
    becomes:
      "Assertions on `json` at `$.a.b[0]`, with `eq`, `in`, `length_eq`, `exists` and so on. A value that the body lacks, which Gatus takes as 0 for `<` and its kin, fails. Switched off for names with `*` and other unusual paths.",
    read(comparison, type) {
      if (type === "http") return jsonMeaning(comparison);
      return type === "grpc" ? servingMeaning(comparison) : UNKNOWN;
    },
  },
  ip: { conditions: ["[IP] == 10.0.0.1"], becomes: "Switched off.", read: () => UNKNOWN },
  context: { conditions: ["[CONTEXT].id == 1"], becomes: "Switched off.", read: () => UNKNOWN },
};

/** Reads `[STATUS]` of other types than HTTP, where it is 0 if the check succeeds. */
function statusElsewhere({ subject, comparator, value }: Comparison): Meaning | NoMeaning {
  return subject.wrapper === undefined && comparator === "==" && value === "0" ? MET : UNKNOWN;
}

/** Least time limit of a check, in ms. */
export const TIMEOUT_MIN_MS = 100;

function timeLimitMeaning({ subject, comparator, value }: Comparison): Meaning | NoMeaning {
  const limit = comparedNumber(value)?.value ?? 0;
  const isUpper = comparator === "<" || comparator === "<=";
  if (subject.wrapper !== undefined || !isUpper || limit <= 0) return UNKNOWN;
  return {
    timeoutMs: Math.max(Math.trunc(limit), TIMEOUT_MIN_MS),
    difference:
      "Its type has no condition on the response time, so it becomes the time limit of a check.",
  };
}

function validityMeaning(comparison: Comparison, type: "tls" | "smtp"): Meaning | NoMeaning {
  const read = remainingDays(comparison);
  if ("problem" in read) return read;
  if (read.op !== "gte" || read.days < 0 || read.days > 365) return UNKNOWN;
  const { days: certificateDays, difference } = read;
  if (type === "tls") return { certificateDays, difference };
  return { certificateDays, difference: "Here it warns, and the check does not fail." };
}

function recordMeaning({ subject, comparator, value }: Comparison): Meaning | NoMeaning {
  const isText =
    subject.wrapper === undefined && comparator === "==" && !/^(any|pat)\(/.test(value);
  return isText ? { expected: value } : UNKNOWN;
}

function messageMeaning({ subject, comparator, value }: Comparison): Meaning | NoMeaning {
  if (subject.wrapper !== undefined || comparator !== "==" || value.startsWith("any("))
    return UNKNOWN;
  const pattern = patOf(value);
  if (pattern === undefined) {
    const difference = "The first message must contain it, and may contain more.";
    return { expected: value, difference };
  }
  const read = readPattern(pattern);
  return read?.kind === "contains" ? { expected: read.text } : UNKNOWN;
}

function servingMeaning({ subject, comparator, value }: Comparison): Meaning | NoMeaning {
  const isStatus = subject.wrapper === undefined && subject.path === "status";
  return isStatus && comparator === "==" && value === "SERVING" ? MET : UNKNOWN;
}

/** Parts of a monitor that all conditions of an endpoint decide. */
export interface ReadConditions {
  assertions: Assertion[];
  isInverted: boolean;
  timeoutMs: number | undefined;
  certificateDays: number | undefined;
  domainDays: number | undefined;
  expected: string[];
  changes: ImportChange[];
  /** Reasons, in one sentence each, for which the monitor is switched off. */
  disabled: string[];
}

/** Reads the conditions of an endpoint that becomes a monitor of a type. */
export function readConditions(conditions: readonly string[], type: EndpointType): ReadConditions {
  const meanings: Meaning[] = [];
  const changes: ImportChange[] = [];
  const disabled: string[] = [];
  let isAboutStatus = false;
  for (const text of conditions) {
    const comparison = parseCondition(text);
    const read =
      "problem" in comparison
        ? comparison
        : CONDITIONS[comparison.subject.source].read(comparison, type);
    isAboutStatus ||= "subject" in comparison && comparison.subject.source === "status";
    if ("problem" in read) {
      disabled.push(`The condition “${oneLine(text)}” is not moved, since ${read.problem}.`);
    } else {
      meanings.push(read);
      if (read.difference !== undefined) {
        const to = inWords(read);
        changes.push({ field: "conditions", from: oneLine(text), to, reason: read.difference });
      }
    }
  }
  const assertions = meanings.flatMap((meaning) => meaning.assertions ?? []);
  const isInverted = meanings.some((meaning) => meaning.isInverted === true);
  if (isInverted && meanings.some((each) => each.isInverted !== true && each !== MET)) {
    disabled.push("It must fail to connect, and has other conditions.");
  }
  if (type === "http" && !isAboutStatus) {
    assertions.push({ source: "status", op: "gte", value: 100 });
  }
  return {
    assertions,
    isInverted,
    timeoutMs: least(meanings.map(({ timeoutMs }) => timeoutMs)),
    certificateDays: most(meanings.map(({ certificateDays }) => certificateDays)),
    domainDays: most(meanings.map(({ domainDays }) => domainDays)),
    expected: meanings.flatMap(({ expected }) => expected ?? []),
    changes,
    disabled,
  };
}

/** Returns what a condition becomes, for the report. */
function inWords({ assertions = [], ...meaning }: Meaning): string {
  if (meaning.timeoutMs !== undefined) return `timeout_ms ${meaning.timeoutMs}`;
  if (meaning.domainDays !== undefined) return `${meaning.domainDays} days`;
  if (meaning.certificateDays !== undefined) return `${meaning.certificateDays} days`;
  if (meaning.expected !== undefined) return oneLine(meaning.expected);
  const words = assertions.map(({ source, op, value, ...more }) =>
    [source, "property" in more ? more.property : "", op, String(value)].filter(Boolean).join(" "),
  );
  return oneLine(words.join(", "));
}

function least(values: readonly (number | undefined)[]): number | undefined {
  const known = values.flatMap((value) => value ?? []);
  return known.length > 0 ? known.reduce((a, b) => Math.min(a, b)) : undefined;
}

function most(values: readonly (number | undefined)[]): number | undefined {
  const known = values.flatMap((value) => value ?? []);
  return known.length > 0 ? known.reduce((a, b) => Math.max(a, b)) : undefined;
}
