import type { Reader } from "../../db/statements";
import { foldComponents } from "../../features/analytics/fold";
import { readBeats, readEntries } from "../../features/compat/entries";
import { type ComponentRow, listComponentsOfPage } from "../../features/components/store";
import type { Span } from "../../features/components/history";
import { uptimeOfTime } from "../../features/components/rules";
import type { Snapshot } from "../../features/status/snapshot";
import type { Representation } from "../../http/representation";
import { RESULTS_CACHE } from "../../http/cdn";
import { WHOLE_TURN } from "../../base/in-slices";
import { DAY_MS } from "../../base/time";
import { jsonRepresentation } from "../answers";
import type { KumaHeartbeats } from "./model";
import { utcText } from "./times";

const BEATS_MAX = 100;
/** Components whose uptime is read in one turn of the event loop. */
const ROWS_PER_STEP = 100;

/** Returns the heartbeats of a page that does not exist. */
export function noHeartbeats(): Representation {
  const none: KumaHeartbeats = { heartbeatList: {}, uptimeList: {} };
  return jsonRepresentation(none, RESULTS_CACHE);
}

/** Returns the beats and the uptime of 24 hours of each entry, at `now` (unix ms), in steps. */
export function* heartbeatsDocument(
  reader: Reader,
  snapshot: Snapshot,
  now: number,
): Generator<number, KumaHeartbeats> {
  const entries = readEntries(reader, snapshot);
  const heartbeatList: KumaHeartbeats["heartbeatList"] = {};
  for (const entry of entries) {
    yield 1;
    heartbeatList[entry.number] = readBeats(reader, entry, BEATS_MAX).map((beat) => ({
      status: beat.status,
      time: utcText(beat.at, true),
      msg: "",
      ping: beat.latencyMs,
    }));
  }
  const uptimeList: KumaHeartbeats["uptimeList"] = {};
  const numbers = new Map(entries.map(({ component, number }) => [component.id, number]));
  const rows = listComponentsOfPage(reader, { pageId: snapshot.document.page.id });
  const span = { from: now - DAY_MS, to: now };
  for (let first = 0; first < rows.length; first += ROWS_PER_STEP) {
    yield WHOLE_TURN;
    const part = rows.slice(first, first + ROWS_PER_STEP);
    for (const [index, uptime] of uptimesOf(reader, part, span).entries()) {
      const number = numbers.get(part[index]?.id ?? "");
      if (uptime !== null && number !== undefined) uptimeList[`${number}_24`] = uptime;
    }
  }
  return { heartbeatList, uptimeList };
}

/** Returns the uptime of each component in a span of unix ms; null without known time. */
export function uptimesOf(
  reader: Reader,
  rows: readonly ComponentRow[],
  span: Span,
): (number | null)[] {
  const folded = foldComponents(reader, rows, { ...span, spans: [span] });
  return folded.map(([whole]) => (whole ? uptimeOfTime(whole.time) : null));
}
