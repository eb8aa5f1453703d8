import type { Reader } from "../../db/statements";
import { invalidParameter } from "../../base/errors";
import { HOUR_MS, toIso, toIsoOrNull } from "../../base/time";
import { headOf, lineOf } from "./answer";
import { countRequests, listKeys, unitOf } from "./counts-store";
import { METHODS, type RequestFigures, type RequestsAnswer } from "./model";
import { LINES_MAX, numberOf, type PeriodInput, readPeriod, requireLines } from "./period";

interface RequestsInput extends PeriodInput {
  /** Id of a key; all keys if omitted. */
  key?: string | undefined;
}

interface Counts {
  ok: number;
  clientError: number;
  limited: number;
}

/**
 * Returns the responses to each key's requests by interval, each key and all together. Counts are
 * hourly, so the period is widened to whole hours. Throws `invalid_request`.
 */
export function requestsAnswer(reader: Reader, input: RequestsInput, now: number): RequestsAnswer {
  const period = readPeriod(input, now);
  const from = Math.floor(period.from / HOUR_MS) * HOUR_MS;
  const to = Math.min(now, Math.ceil(period.to / HOUR_MS) * HOUR_MS);
  const hours = readPeriod({ ...input, from: toIso(from), to: toIso(to) }, now);
  const keys = listKeys(reader, { id: input.key ?? null, limit: LINES_MAX + 1 });
  if (input.key !== undefined && keys.length === 0) throw invalidParameter("key", "names no key");
  requireLines(keys.length, hours);
  const { interval, spans } = hours;
  const keyIds = JSON.stringify(keys.map(({ id }) => id));
  const counted = countRequests(reader, { keyIds, from, to, unit: unitOf(interval) });
  const bucketOf = (keyId: string, at: number) => `${keyId} ${numberOf(at, interval)}`;
  const byBucket = Map.groupBy(counted, ({ keyId, at }) => bucketOf(keyId, at));
  const data = keys.flatMap(({ id, name, lastUsedAt }) =>
    spans.map((span) => ({
      id,
      name,
      ...lineOf(span),
      ...requestFiguresOf(byBucket.get(bucketOf(id, span.from)) ?? []),
      last_used_at: toIsoOrNull(lastUsedAt),
    })),
  );
  return { ...headOf(hours, METHODS.requests), total: requestFiguresOf(counted), data };
}

function requestFiguresOf(parts: readonly Counts[]): RequestFigures {
  const sum = (of: keyof Counts) => parts.reduce((total, part) => total + part[of], 0);
  const [ok, clientError, limited] = [sum("ok"), sum("clientError"), sum("limited")];
  return { total: ok + clientError + limited, ok, client_error: clientError, limited };
}
