import type { ComponentChildren } from "preact";
import { type Role, roleAllows } from "../../base/actor";
import { type Tone, TONES } from "../../base/status";
import { percent, sum } from "../../base/numbers";
import { plural } from "../../base/text";
import { MINUTE_MS, toIso } from "../../base/time";
import { duration, shortDay } from "../../ui/times";
import { State } from "../../ui/blocks";
import { ANALYTICS_PATH, INCIDENTS_PATH, MONITORS_PATH, WEBHOOKS_PATH } from "../../ui/frame/paths";
import { ClosedGauge, Gauge, UnsetGauge } from "./gauge";
import type { Health } from "./health";
import { elapsed } from "./parts";

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
  const [down, slow, pending] = [count("down"), count("degraded"), count("pending")];
  const [noData, unreachable] = [count("no_data"), count("unreachable")];
  const words = [
    down > 0 ? `${down} down` : "",
    slow > 0 ? `${slow} slow` : "",
    unreachable > 0 ? `${unreachable} unreachable` : "",
    noData > 0 ? `${noData} without data` : "",
    pending > 0 ? `${pending} not checked yet` : "",
    paused > 0 ? `${paused} paused` : "",
  ].filter(Boolean);
  const tone = down > 0 ? "major" : slow > 0 ? "degraded" : undefined;
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
  const isOpen = openIncidents > 0;
  const last =
    lastIncidentAt === undefined ? "None so far" : `Last on ${shortDay(toIso(lastIncidentAt))}`;
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

function Uptime({ health: { uptime } }: { health: Health }) {
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
            ? "No outage"
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
