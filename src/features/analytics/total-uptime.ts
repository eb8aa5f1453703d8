import type { Reader } from "../../db/statements";
import { addTimes as addStatusTimes, type Span } from "../components/history";
import type { ComponentRow } from "../components/store";
import { downTime, uptimeOfTime } from "../components/rules";
import { foldInTurns } from "./fold";
import { listComponents } from "./store";

/** Uptime of components together. */
export interface TotalUptime {
  /** Share of the known time without maintenance; null without such time. */
  uptime: number | null;
  /** Time that counts as down, of all components, in ms. */
  downMs: number;
}

/**
 * Returns the uptime of at most `limit` components together in a span of unix ms, by the method of
 * `uptimeAnswer`. Large installations are read in several turns of the event loop.
 */
export async function totalUptime(reader: Reader, span: Span, limit: number): Promise<TotalUptime> {
  const rows = listComponents(reader, { limit }).map(({ component }) => component);
  return uptimeTogether(reader, rows, span);
}

/** Returns the uptime of components together in a span of unix ms. */
export async function uptimeTogether(
  reader: Reader,
  rows: readonly ComponentRow[],
  { from, to }: Span,
): Promise<TotalUptime> {
  const folded = await foldInTurns(reader, rows, { from, to, spans: [{ from, to }] });
  const time = addStatusTimes(folded.flat().map((each) => each.time));
  return { uptime: uptimeOfTime(time), downMs: downTime(time) };
}
