import { firstNames } from "../../../base/text";
import type { MonitorState } from "../../../base/status";
import { toIso } from "../../../base/time";
import { FormNotice, MONITOR_WORDS, monitorWord, Notice } from "../../../ui/blocks";
import { Button } from "../../../ui/buttons";
import { DetailCard, DetailRow, MoreRows } from "../../../ui/detail";
import { FieldError, fieldId } from "../../../ui/field";
import { Actions, HiddenFields } from "../../../ui/form";
import { notifyField, Rejection } from "../../../ui/forms/fields";
import { defineForm, type Field, InvalidInput, type StateOf } from "../../../ui/forms/form";
import { incidentPath, monitorPath } from "../../../ui/frame/paths";
import { ClockTime } from "../../../ui/times";
import { RESOLVED_TEXT } from "../../incident-templates/screens/offered";
import type { RecentTimes } from "../../monitors/overview";
import type { MonitorRecord } from "../../monitors/records";
import { LastDay, StateShape } from "../../monitors/screens/list";
import { latencyInWords, Since } from "../../monitors/screens/words";
import { Elapsed, elapsed, Links } from "../../overview/screens/parts";
import { type NotifiedWebhook, notifyLabel } from "../../timeline/screens/mail";
import type { IncidentOutages, ShownOutage } from "../outage-store";
import type { Incident, SplitOffBody } from "../wire";

/** Number of monitors that are listed before the rest is folded. */
const SHOWN = 5;

/** Maximum number of monitors that are listed: 500 take 30 ms. */
const LISTED_MAX = 500;

/** Number of components that a row names; further ones are counted. */
const COMPONENTS_NAMED = 2;

/** Monitor of an incident with its newest outage there. Times in unix ms. */
interface DetectingMonitor {
  id: string;
  name: string;
  isDeleted: boolean;
  /** Present state; the last one of a deleted monitor. */
  state: MonitorState;
  /** Names of the components that the outage concerns. */
  components: readonly string[];
  isLinked: boolean;
  startedAt: number;
  /** Null while the outage lasts. */
  endedAt: number | null;
  /** True if the outage ended without a recovery, such as by a pause. */
  hasLeft: boolean;
  /** Number of its outages in the incident. */
  count: number;
}

/** Incident with its monitors. */
export interface Detected {
  incident: Incident;
  /** Those that still fail first, then by the start of their outages. */
  monitors: readonly DetectingMonitor[];
  outages: Omit<IncidentOutages, "outages">;
  notified: readonly NotifiedWebhook[];
  /** The only monitor with its last 24 hours; undefined for several, and for a deleted one. */
  only: { record: MonitorRecord; recent: RecentTimes | undefined } | undefined;
}

/** Time in which a monitor was down, with its rows: one for each component and status. */
interface Period {
  startedAt: number;
  /** Null while a row is open. */
  endedAt: number | null;
  rows: ShownOutage[];
}

/** Returns the end of a row. A deleted component has no status that an outage could set. */
function endOf({ outage, isComponentDeleted }: ShownOutage): number | null {
  return outage.endedAt ?? (isComponentDeleted === 1 ? outage.startedAt : null);
}

/** Returns the outages of one monitor, oldest first. Rows that touch each other are one outage. */
function periodsOf(rows: readonly ShownOutage[]): Period[] {
  const periods: Period[] = [];
  for (const row of rows) {
    const { startedAt } = row.outage;
    const end = endOf(row);
    const last = periods.at(-1);
    if (last && (last.endedAt === null || startedAt <= last.endedAt)) {
      last.endedAt = last.endedAt === null || end === null ? null : Math.max(last.endedAt, end);
      last.rows.push(row);
    } else {
      periods.push({ startedAt, endedAt: end, rows: [row] });
    }
  }
  return periods;
}

/** Returns the monitors of outages, each with its newest one. `outages` are the oldest first. */
export function detectingMonitors(outages: readonly ShownOutage[]): DetectingMonitor[] {
  const byMonitor = Map.groupBy(outages, ({ outage }) => outage.monitorId);
  const monitors = [...byMonitor].flatMap(([id, all]): DetectingMonitor[] => {
    const periods = periodsOf(all);
    const newest = periods.at(-1);
    const [row] = all;
    if (!newest || !row) return [];
    const { startedAt, endedAt, rows } = newest;
    const lastRows = rows.filter((each) => endOf(each) === endedAt);
    return [
      {
        id,
        name: row.monitorName,
        state: row.monitorState,
        isDeleted: row.isMonitorDeleted === 1,
        components: [...new Set(rows.map(({ componentName }) => componentName))],
        isLinked: rows.every(({ outage }) => outage.kind === "linked"),
        startedAt,
        endedAt,
        hasLeft:
          endedAt !== null &&
          lastRows.every(({ outage }) => outage.hasLeft || outage.endedAt === null),
        count: periods.length,
      },
    ];
  });
  return monitors.toSorted(
    (a, b) => Number(b.endedAt === null) - Number(a.endedAt === null) || a.startedAt - b.startedAt,
  );
}

const monitorsField: Field<readonly string[], string[]> = {
  label: "Monitors",
  initial: [],
  read: (sent, name) => sent.all(name),
  toBody: (ids) =>
    ids.length === 0 ? new InvalidInput("Select at least one monitor.") : [...new Set(ids)],
  fromStored: (ids) => ids,
  // The pointer of one monitor has its index.
  showError: ({ pointer, detail }) => ({
    detail:
      pointer.split("/").length > 2
        ? "A selected monitor is no longer down in this incident. Select from those that are."
        : detail,
  }),
  // Its checkboxes are in the rows of the monitors.
  Input: () => null,
};

/** Form that moves outages to a new incident. */
export const SPLIT_FORM = defineForm<SplitOffBody>()({
  monitors: monitorsField,
  notify: notifyField(),
});

interface DetectedByProps {
  view: Detected;
  /** Form that moves outages; undefined for roles that cannot change the incident. */
  split: StateOf<typeof SPLIT_FORM> | undefined;
  now: number;
}

/** The only monitor of an incident, with its state and last 24 hours, for the narrow column. */
export function OnlyMonitor({ view: { monitors, only }, now }: Omit<DetectedByProps, "split">) {
  const [monitor] = monitors;
  if (!monitor || !only) return null;
  const { row, state, lastCheck } = only.record;
  const latency = lastCheck?.latencyMs ?? null;
  const limit = row.degradedAfterMs;
  return (
    <DetailCard title="Detected by" liveId="detected-by" isFlush>
      <ul>
        <DetailRow
          shape={<StateShape state={state.state} />}
          href={monitorPath(row.id)}
          title={row.name}
          note={
            <>
              {monitorWord(state.state, row.type)} <Since at={state.since} now={now} />
              {latency === null ? null : ` · ${latencyInWords(latency)}`}
              {latency === null || limit === null || latency <= limit
                ? null
                : `, slow above ${latencyInWords(limit)}`}
              {state.state === "down" && !monitor.isLinked ? null : (
                <>
                  <br />
                  <OutageNote monitor={monitor} now={now} />
                </>
              )}
              <LastDay monitor={row} recent={only.recent} />
            </>
          }
        />
      </ul>
    </DetailCard>
  );
}

/** Monitors of an incident with their outages, some of which can be split off. */
export function DetectedBy({ view, split, now }: DetectedByProps) {
  const { incident, monitors, only, outages } = view;
  if (monitors.length === 0 || only) return null;
  const isForm = split !== undefined && outages.canSplitOff;
  return (
    <DetailCard
      title="Detected by"
      liveId="detected-by"
      count={monitors.length.toLocaleString("en")}
      end={<span class="muted">{stateInWords(view)}</span>}
      isFlush
    >
      {isForm ? (
        <form method="post" action={incidentPath(incident.id, "split-off")}>
          <HiddenFields values={split.hidden} />
          {split.notice === undefined && split.kept === undefined ? null : (
            <div class="detail-body">
              <Rejection {...split} />
            </div>
          )}
          <Rows view={view} split={split} now={now} />
          <div class="composer-foot">
            <p class="hint" id="split-hint">
              Moves the selected outages to a new incident, which ends when they have ended.
            </p>
            <label class="row-check">
              <input type="checkbox" name="notify" value="yes" checked={split.values.notify} />
              <span>
                {notifyLabel(view.notified)}
                {incident.draft ? " when published" : ""}
              </span>
            </label>
            <Actions>
              <Button>Split off</Button>
            </Actions>
          </div>
        </form>
      ) : (
        <Rows view={view} split={undefined} now={now} />
      )}
    </DetailCard>
  );
}

/** Reason for which a form was rejected that the screen no longer has. */
export function SplitRejection({ view: { outages }, split }: Omit<DetectedByProps, "now">) {
  const reason = split?.notice ?? split?.errors["monitors"];
  return reason === undefined || outages.canSplitOff ? null : <FormNotice>{reason}</FormNotice>;
}

function Rows({ view, split, now }: DetectedByProps) {
  const { monitors } = view;
  const selected = new Set(split?.values.monitors);
  const rowsOf = (shown: readonly DetectingMonitor[]) =>
    shown.map((monitor) => (
      <DetailRow
        key={monitor.id}
        pick={
          split && monitor.endedAt === null
            ? { name: "monitors", value: monitor.id, isChecked: selected.has(monitor.id) }
            : undefined
        }
        shape={<StateShape state={monitor.state} />}
        {...(monitor.isDeleted ? {} : { href: monitorPath(monitor.id) })}
        title={monitor.name}
        note={<OutageNote monitor={monitor} now={now} hasComponents />}
        end={
          <span class="detail-figure-end">
            {elapsed(monitor.startedAt, monitor.endedAt ?? now)}
          </span>
        }
      />
    ));
  const more = monitors.slice(SHOWN, LISTED_MAX);
  const rest = monitors.length - LISTED_MAX;
  const list = (
    <>
      <ul>{rowsOf(monitors.slice(0, SHOWN))}</ul>
      {more.length === 0 ? null : (
        <MoreRows
          label={`${(monitors.length - SHOWN).toLocaleString("en")} more`}
          isOpen={more.some(({ id }) => selected.has(id))}
        >
          {rowsOf(more)}
          {rest > 0 ? (
            <li class="muted detail-body">{rest.toLocaleString("en")} more are not listed.</li>
          ) : null}
        </MoreRows>
      )}
    </>
  );
  if (!split) return list;
  const error = split.errors["monitors"];
  return (
    <fieldset
      class="detail-picks"
      id={fieldId("monitors")}
      tabIndex={-1}
      aria-describedby={error === undefined ? "split-hint" : `${fieldId("monitors")}-error`}
    >
      <legend class="visually-hidden">Monitors to split off</legend>
      {list}
      {error === undefined ? null : (
        <div class="detail-body" role="alert" tabIndex={-1} autofocus>
          <FieldError name="monitors" label="Monitors" error={error} />
        </div>
      )}
    </fieldset>
  );
}

interface OutageNoteProps {
  monitor: DetectingMonitor;
  now: number;
  hasComponents?: boolean;
}

/** Outage of a monitor in words: "Down since 14:11 · Checkout", "Down 14:11–15:24, linked". */
function OutageNote({ monitor, now, hasComponents = false }: OutageNoteProps) {
  const { name, state, isDeleted, isLinked, components } = monitor;
  const { startedAt, endedAt, hasLeft, count } = monitor;
  const at = (ms: number) => <ClockTime at={toIso(ms)} now={now} />;
  const word = isDeleted ? "Deleted" : MONITOR_WORDS[state];
  const isPlain = endedAt === null ? state === "down" : !hasLeft && state === "up";
  return (
    <>
      {endedAt === null ? (
        <>Down since {at(startedAt)}</>
      ) : (
        <>
          Down {at(startedAt)}–{at(endedAt)}
        </>
      )}
      {count > 1 ? `, ${count.toLocaleString("en")} times` : ""}
      {isLinked ? ", linked" : ""}
      {hasLeft ? ", left the incident" : ""}
      {isPlain ? <span class="visually-hidden"> · {word} now</span> : ` · ${word} now`}
      {hasComponents && components.some((component) => component !== name)
        ? ` · ${firstNames(components, COMPONENTS_NAMED)}`
        : ""}
    </>
  );
}

/** Returns the number of monitors that still fail: "8 still down", "All up again". */
function stateInWords({ monitors, outages }: Detected): string {
  const failing = outages.failingMonitorIds.length;
  if (failing === monitors.length) return "All down";
  if (failing > 0) return `${failing.toLocaleString("en")} still down`;
  return monitors.some(({ hasLeft }) => hasLeft) ? "None down" : "All up again";
}

/** Links to monitors; a deleted one has none. */
function MonitorLinks({ monitors }: { monitors: readonly DetectingMonitor[] }) {
  return (
    <Links
      items={monitors.map(({ id, name, isDeleted }) => ({
        ...(isDeleted ? {} : { href: monitorPath(id) }),
        name,
      }))}
    />
  );
}

/** Says that Allclear writes and resolves an incident, if it does. */
export function WrittenBy({
  view,
  canWrite,
  now,
}: {
  view: Detected;
  canWrite: boolean;
  now: number;
}) {
  const { incident, outages } = view;
  if (!outages.isAutomatic || incident.status === "resolved") return null;
  const until = canWrite ? "until you write in it" : "until a person writes in it";
  return (
    <p class="muted">
      {incident.draft
        ? `Allclear adds outages to this draft ${until}, and never publishes or resolves it.`
        : `Allclear writes and resolves this incident ${until}.`}
      {outages.updateDueAt === null || outages.updateDueAt <= now ? null : (
        <>
          {" "}
          Its next update is due at <ClockTime at={toIso(outages.updateDueAt)} now={now} hasZone />.
        </>
      )}
    </p>
  );
}

interface RecoveredProps {
  view: Detected;
  /** Token of the form. */
  token: string;
  canWrite: boolean;
  now: number;
}

/**
 * Says that all outages of an incident have ended, and resolves it with one button; of a resolved incident, which
 * monitors still fail. Renders nothing for a draft, and while an outage of an open incident lasts.
 */
export function Recovered({ view, token, canWrite, now }: RecoveredProps) {
  const { incident, monitors, outages } = view;
  const failing = monitors.filter(({ endedAt }) => endedAt === null);
  if (incident.draft) return null;
  if (incident.status === "resolved") return <StillFailing monitors={failing} />;
  if (!outages.isOver) return null;
  const ended = monitors.filter(({ hasLeft }) => !hasLeft);
  return (
    <div class="notice t-ok">
      <div class="notice-text panel-head">
        <p>
          <b>All outages have ended.</b>{" "}
          {ended.length === 0 ? (
            <>
              <MonitorLinks monitors={monitors} /> left the incident, so that Allclear does not
              resolve it.
            </>
          ) : (
            <>
              <MonitorLinks monitors={ended} /> {ended.length === 1 ? "has" : "have"} been up for{" "}
              <Elapsed since={Math.max(...ended.map(({ endedAt }) => endedAt ?? 0))} now={now} />.
            </>
          )}
        </p>
        {canWrite ? (
          <form method="post" action={incidentPath(incident.id, "updates")}>
            <HiddenFields
              values={{
                form: token,
                seen_status: incident.status,
                intent: RESOLVE_INTENT,
                status: "resolved",
                body: RESOLVED_TEXT,
                notify: "yes",
              }}
            />
            <Button>Resolve incident</Button>
          </form>
        ) : null}
      </div>
    </div>
  );
}

/** Names the monitors that fail although their incident is resolved, or about to be deleted. */
export function StillFailing({ monitors }: { monitors: readonly DetectingMonitor[] }) {
  if (monitors.length === 0) return null;
  return (
    <Notice tone="major">
      <p>
        <MonitorLinks monitors={monitors} /> {monitors.length === 1 ? "is" : "are"} still down. No
        incident opens for {monitors.length === 1 ? "this outage" : "these outages"}, only for the
        next one.
      </p>
    </Notice>
  );
}

/** Value of the input `intent` in the form that resolves an incident with one click. */
export const RESOLVE_INTENT = "resolve";
