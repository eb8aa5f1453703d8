import type { Reader } from "../../db/statements";
import {
  IMPACT_TONES,
  type MonitorState,
  STATUS_TONES,
  type Tone,
  worstTone,
} from "../../base/status";
import { type TotalUptime, totalUptime } from "../../features/analytics/total-uptime";
import { findLastTrouble } from "../../features/components/trouble-store";
import { findLastIncidentStart } from "../../features/incidents/store";
import { countMonitorsByState } from "../../features/monitors/store";
import { countAttempts } from "../../features/webhooks/health";
import { DAY_MS, MINUTE_MS, startOfDay } from "../../base/time";
import type { CurrentState } from "./current-state";
import type { GaugePart } from "./gauge";

/** UTC days of the uptime, including today, as in Analytics. */
const UPTIME_DAYS = 30;
/** Maximum number of components that the uptime is computed from. */
const COMPONENTS_MAX = 5_000;

/** Figures about the health of the installation. */
export interface Health {
  parts: readonly GaugePart[];
  /** Number of components by tone. */
  counts: ReadonlyMap<Tone, number>;
  monitors: ReadonlyMap<MonitorState, number>;
  openIncidents: number;
  /** Tone of the worst open incident's impact. */
  incidentTone: Tone;
  /** Start of the last incident in unix ms; undefined without one, and while one is open. */
  lastIncidentAt: number | undefined;
  uptime: TotalUptime;
  attempts: ReturnType<typeof countAttempts>;
  /** Latest end of a component's outage or degraded time in unix ms; null without one, and during one. */
  lastTroubleAt: number | null;
}

/**
 * Creates the reader of the health. The uptime is computed once a minute at most, also for requests
 * that wait for it at the same time.
 */
export function createHealthReader() {
  let cached: { minute: number; uptime: Promise<TotalUptime> } | undefined;

  async function uptimeOf(reader: Reader, now: number): Promise<TotalUptime> {
    const minute = Math.floor(now / MINUTE_MS);
    if (cached?.minute === minute) return cached.uptime;
    const span = { from: startOfDay(now) - (UPTIME_DAYS - 1) * DAY_MS, to: now };
    const uptime = totalUptime(reader, span, COMPONENTS_MAX);
    cached = { minute, uptime };
    // A failed read is repeated by the next request.
    void uptime.then(undefined, () => (cached = undefined));
    return uptime;
  }

  return async (reader: Reader, state: CurrentState, now: number): Promise<Health> => {
    const uptime = await uptimeOf(reader, now);
    const parts = state.components.map(({ status, groupId, pageId }) => ({
      tone: STATUS_TONES[status],
      group: groupId ?? pageId,
    }));
    const isWell = parts.every(({ tone }) => tone === "ok" || tone === "maint");
    const counted = Map.groupBy(parts, ({ tone }) => tone);
    return {
      parts,
      counts: new Map(Array.from(counted, ([tone, { length }]) => [tone, length])),
      monitors: new Map(
        countMonitorsByState(reader, {}).map(({ state: each, monitors }) => [each, monitors]),
      ),
      openIncidents: state.openCount,
      incidentTone: worstTone(
        state.pages.flatMap(({ headline }) =>
          headline.incidents.map(({ impact }) => IMPACT_TONES[impact]),
        ),
      ),
      lastIncidentAt:
        state.openCount > 0 ? undefined : (findLastIncidentStart(reader, {})?.at ?? undefined),
      uptime,
      attempts: countAttempts(reader, now),
      lastTroubleAt: isWell ? (findLastTrouble(reader, {})?.endedAt ?? null) : null,
    };
  };
}
