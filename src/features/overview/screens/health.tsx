import type { ComponentChildren } from "preact";
import { type Role, roleAllows } from "../../../base/actor";
import { percent, sum } from "../../../base/numbers";
import {
  IMPACT_TONES,
  type MonitorState,
  STATUS_TONES,
  type Tone,
  TONES,
  worstTone,
} from "../../../base/status";
import { plural } from "../../../base/text";
import { DAY_MS, MINUTE_MS, startOfDay } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { State } from "../../../ui/blocks";
import {
  ANALYTICS_PATH,
  INCIDENTS_PATH,
  MONITORS_PATH,
  WEBHOOKS_PATH,
} from "../../../ui/frame/paths";
import { dayAt, duration, useZone } from "../../../ui/times";
import { type TotalUptime, totalUptime } from "../../analytics/analytics";
import { findLastTrouble } from "../../components/cause-store";
import { findLastIncidentStart } from "../../incidents/store";
import { countMonitorsByState } from "../../monitors/store";
import { countAttempts } from "../../webhooks/health";
import type { CurrentState } from "./current-state";
import { elapsed } from "./parts";

/** UTC days of the uptime, including today, as in Analytics. */
const UPTIME_DAYS = 30;
/** Maximum number of components that the uptime is computed from. */
const COMPONENTS_MAX = 5_000;

const NOTHING_MEASURED: TotalUptime = { uptime: null, downMs: 0 };

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
  /** Without a value until a monitor has a result or an outage is known: statuses set by hand measure nothing. */
  uptime: TotalUptime;
  /** True on the day on which the first page was created. */
  isFirstDay: boolean;
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
    const monitors = countMonitorsByState(reader, {});
    const isMeasured = monitors.some(({ state: each }) => each !== "pending");
    const own = state.pages.filter(({ page }) => !page.isSample);
    const parts = state.components.map(({ status, groupId, pageId }) => ({
      tone: STATUS_TONES[status],
      group: groupId ?? pageId,
    }));
    const isWell = parts.every(({ tone }) => tone === "ok" || tone === "maint");
    const counted = Map.groupBy(parts, ({ tone }) => tone);
    return {
      parts,
      counts: new Map(Array.from(counted, ([tone, { length }]) => [tone, length])),
      monitors: new Map(monitors.map(({ state: each, monitors: count }) => [each, count])),
      openIncidents: state.openCount,
      incidentTone: worstTone(
        state.pages.flatMap(({ headline }) =>
          headline.incidents.map(({ impact }) => IMPACT_TONES[impact]),
        ),
      ),
      lastIncidentAt:
        state.openCount > 0 ? undefined : (findLastIncidentStart(reader, {})?.at ?? undefined),
      uptime: parts.length > 0 && (isMeasured || uptime.downMs > 0) ? uptime : NOTHING_MEASURED,
      isFirstDay: own.every(({ page }) => page.createdAt >= startOfDay(now)),
      attempts: countAttempts(reader, now),
      lastTroubleAt: isWell ? (findLastTrouble(reader, {})?.endedAt ?? null) : null,
    };
  };
}

/** Words after the number of components of a tone, such as "2 operational". */
const TONE_WORDS: Readonly<Record<Tone, string>> = {
  none: "without data",
  ok: "operational",
  maint: "under maintenance",
  degraded: "degraded",
  partial: "with a partial outage",
  major: "with a major outage",
};

interface HealthProps {
  health: Health;
  role: Role;
  /** True if nothing needs attention. */
  isCalm: boolean;
  /** True if the block is in the narrow column; otherwise it has the full width. */
  isNarrow: boolean;
  now: number;
}

/** State of all components as a ring, and four numbers. */
export function HealthBlock({ health, role, isCalm, isNarrow, now }: HealthProps) {
  return (
    <section
      class={isNarrow ? "card health is-tall" : "card health"}
      id="health"
      aria-label="Health"
    >
      <Now health={health} isCalm={isCalm} now={now} />
      <div class="numbers">
        <Monitors health={health} />
        <OpenIncidents health={health} />
        <Uptime health={health} />
        <Deliveries health={health} role={role} />
      </div>
    </section>
  );
}

function Now({ health, isCalm, now }: Omit<HealthProps, "role" | "isNarrow">) {
  const { parts, counts, monitors, lastTroubleAt } = health;
  const operational = counts.get("ok") ?? 0;
  const others = TONES.toReversed().filter((tone) => tone !== "ok" && counts.has(tone));
  const active = sum([...monitors.values()]) - (monitors.get("paused") ?? 0);
  const undisturbed = (monitors.get("up") ?? 0) + (monitors.get("maintenance") ?? 0);
  if (parts.length === 0 || (others.length === 0 && active === 0)) {
    return (
      <div class="health-now">
        <UnsetGauge />
        <div>
          <h2>{parts.length === 0 ? "No components yet" : "Not monitored yet"}</h2>
          <p class="muted">{unsetText(health)}</p>
        </div>
      </div>
    );
  }
  // All is clear only if every active monitor has a result.
  if (others.length === 0 && isCalm && undisturbed === active) {
    return (
      <div class="health-now">
        <ClosedGauge />
        <div>
          <h2>All clear</h2>
          <p class="muted">
            {plural(parts.length, "component")} and {plural(active, "monitor")} are well.
            {lastTroubleAt === null
              ? " No component has been down so far."
              : ` No component has been down for ${elapsed(lastTroubleAt, now)}.`}
          </p>
        </div>
      </div>
    );
  }
  return (
    <div class="health-now">
      <Gauge parts={parts} operational={operational} />
      <div>
        <h2>
          {operational.toLocaleString("en")}&nbsp;of&nbsp;{parts.length.toLocaleString("en")}{" "}
          operational
        </h2>
        <ul>
          {others.map((tone) => (
            <li key={tone}>
              <State tone={tone}>
                {(counts.get(tone) ?? 0).toLocaleString("en")} {TONE_WORDS[tone]}
              </State>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** Returns the reason why the ring is dashed. */
function unsetText({ parts, monitors }: Health): string {
  if (parts.length === 0) return "Status pages list components with their statuses.";
  return monitors.size === 0
    ? "No monitor checks these components yet. Their status is set by hand."
    : "All monitors are paused. The status of components is set by hand.";
}

interface FigureProps {
  /** Path of the screen about the number; undefined for roles that may not open it. */
  href: string | undefined;
  label: string;
  value: ComponentChildren;
  /** Line below the number, as a state if it has a tone. */
  detail: string;
  tone?: Tone | undefined;
}

function Figure({ href, label, value, detail, tone }: FigureProps) {
  const content = (
    <>
      <span class="k">{label}</span>
      <span class="v">{value}</span>
      <span class="d">{tone ? <State tone={tone}>{detail}</State> : detail}</span>
    </>
  );
  if (href === undefined) return <div class="number">{content}</div>;
  return (
    <a class="number" href={href}>
      {content}
    </a>
  );
}

function Monitors({ health: { monitors } }: { health: Health }) {
  const count = (state: Parameters<typeof monitors.get>[0]) => monitors.get(state) ?? 0;
  const paused = count("paused");
  const active = sum([...monitors.values()]) - paused;
  const [down, degraded, pending] = [count("down"), count("degraded"), count("pending")];
  const [noData, unreachable] = [count("no_data"), count("unreachable")];
  const words = [
    down > 0 ? `${down} down` : "",
    degraded > 0 ? `${degraded} degraded` : "",
    unreachable > 0 ? `${unreachable} unreachable` : "",
    noData > 0 ? `${noData} without data` : "",
    pending > 0 ? `${pending} not checked yet` : "",
    paused > 0 ? `${paused} paused` : "",
  ].filter(Boolean);
  const tone = down > 0 ? "major" : degraded > 0 ? "degraded" : undefined;
  return (
    <Figure
      href={MONITORS_PATH}
      label="Monitors"
      value={
        active === 0 ? (
          "0"
        ) : (
          <>
            {count("up").toLocaleString("en")} <small>of {active.toLocaleString("en")} up</small>
          </>
        )
      }
      detail={words.slice(0, 2).join(", ") || (active === 0 ? "None yet" : "All up")}
      tone={tone}
    />
  );
}

/** Words for the worst impact of open incidents. */
const WORST_WORDS: Readonly<Partial<Record<Tone, string>>> = {
  none: "No impact",
  degraded: "Minor impact",
  partial: "Major impact",
  major: "Critical impact",
};

function OpenIncidents({ health }: { health: Health }) {
  const { openIncidents, incidentTone, lastIncidentAt } = health;
  const zone = useZone();
  const isOpen = openIncidents > 0;
  const last =
    lastIncidentAt === undefined ? "None so far" : `Last on ${dayAt(lastIncidentAt, zone)}`;
  return (
    <Figure
      href={isOpen ? `${INCIDENTS_PATH}?show=open` : INCIDENTS_PATH}
      label="Open incidents"
      value={openIncidents.toLocaleString("en")}
      detail={isOpen ? (WORST_WORDS[incidentTone] ?? "") : last}
      tone={isOpen ? incidentTone : undefined}
    />
  );
}

function Uptime({ health: { uptime, isFirstDay } }: { health: Health }) {
  const minutes = Math.ceil(uptime.downMs / MINUTE_MS);
  return (
    <Figure
      href={ANALYTICS_PATH}
      label="Uptime, 30 days"
      value={percent(uptime.uptime, 2)}
      detail={
        uptime.uptime === null
          ? "No data yet"
          : minutes === 0
            ? isFirstDay
              ? "Counted since today"
              : "No outage"
            : `${duration(minutes)} of outage`
      }
    />
  );
}

function Deliveries({ health: { attempts }, role }: { health: Health; role: Role }) {
  const { endpoints, succeeded, failed } = attempts;
  const isWell = failed === 0;
  return (
    <Figure
      href={roleAllows(role, "admin") ? WEBHOOKS_PATH : undefined}
      label="Deliveries, 24 h"
      value={succeeded.toLocaleString("en")}
      detail={
        endpoints === 0
          ? "No webhook yet"
          : !isWell
            ? plural(failed, "failed attempt")
            : succeeded === 0
              ? "No events"
              : "All delivered"
      }
      tone={!isWell ? "partial" : succeeded > 0 ? "ok" : undefined}
    />
  );
}

/** Radius of an arc of operational components. */
const RADIUS = 43;
/** Radius of all other arcs. */
const TROUBLED_RADIUS = 46;
/** Maximum number of arcs; with more parts, several share one. */
const ARCS_MAX = 60;

/** Component, as far as the gauge shows it. */
interface GaugePart {
  tone: Tone;
  /** Id of the group, or of the page, whose parts share an arc if there are more than 60 parts. */
  group: string;
}

/**
 * Returns the tones of the arcs: one for each part, or one for each group if there are more than 60
 * parts. With more than 60 groups, each tone has arcs in proportion to its number of parts.
 */
export function arcTones(parts: readonly GaugePart[]): readonly Tone[] {
  if (parts.length <= ARCS_MAX) return parts.map(({ tone }) => tone);
  const groups = Map.groupBy(parts, ({ group }) => group);
  if (groups.size <= ARCS_MAX) {
    return Array.from(groups.values(), (group) => worstTone(group.map(({ tone }) => tone)));
  }
  const shares = TONES.toReversed().map((tone) => {
    const count = parts.filter((part) => part.tone === tone).length;
    return {
      tone,
      arcs: count === 0 ? 0 : Math.max(1, Math.floor((count * ARCS_MAX) / parts.length)),
    };
  });
  const tones = shares.flatMap(({ tone, arcs }) => Array.from({ length: arcs }, () => tone));
  const last = tones.at(-1) ?? "none";
  return [...tones, ...Array.from({ length: ARCS_MAX }, () => last)].slice(0, ARCS_MAX);
}

/** Ring with an arc for each part, and the number of operational components in its centre. */
function Gauge({ parts, operational }: { parts: readonly GaugePart[]; operational: number }) {
  const tones = arcTones(parts);
  const step = (2 * Math.PI) / tones.length;
  const gap = tones.length === 1 ? 0.0001 : Math.min(0.1, step * 0.22);
  return (
    <svg
      class="gauge"
      viewBox="0 0 100 100"
      role="img"
      aria-label={`${operational} of ${parts.length} components are operational`}
    >
      {tones.map((tone, index) => {
        const isWell = tone === "ok";
        const radius = isWell ? RADIUS : TROUBLED_RADIUS;
        const from = index * step + gap / 2;
        const to = (index + 1) * step - gap / 2;
        return (
          // Arcs have no other key than their position.
          // oxlint-disable-next-line react/no-array-index-key
          <path key={index} class={`t-${tone}${isWell ? "" : " bad"}`} d={arc(radius, from, to)} />
        );
      })}
      <text x="50" y="55">
        {operational.toLocaleString("en")}
      </text>
      <text class="of" x="50" y="70">
        of {parts.length.toLocaleString("en")}
      </text>
    </svg>
  );
}

/** Returns the path of an arc between two angles, clockwise from the top. */
function arc(radius: number, from: number, to: number): string {
  const large = to - from > Math.PI ? 1 : 0;
  return `M${point(radius, from)}A${radius} ${radius} 0 ${large} 1 ${point(radius, to)}`;
}

function point(radius: number, angle: number): string {
  const [x, y] = [50 + radius * Math.sin(angle), 50 - radius * Math.cos(angle)];
  return `${Math.round(x * 100) / 100} ${Math.round(y * 100) / 100}`;
}

const RING = "M50 7a43 43 0 1 1-.01 0Z";

/** Closed ring with a check mark, shown if all is clear. */
function ClosedGauge() {
  return (
    <svg class="gauge t-ok" viewBox="0 0 100 100" role="img" aria-label="All clear">
      <path d={RING} />
      <path class="tick" d="m33 51 12 12 23-25" />
    </svg>
  );
}

/** Dashed ring of components that no monitor checks. */
function UnsetGauge() {
  return (
    <svg class="gauge t-none" viewBox="0 0 100 100" role="img" aria-label="Not monitored yet">
      <path class="unset" d={RING} />
    </svg>
  );
}
