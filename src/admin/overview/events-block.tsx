import { IMPACT_TONES } from "../../base/status";
import type { IncidentRecord } from "../../features/incidents/records";
import { isUnderWay } from "../../features/maintenance/rules";
import type { MaintenanceRecord } from "../../features/maintenance/store";
import { plural } from "../../base/text";
import { DAY_MS, toIso } from "../../base/time";
import { IMPACT_WORDS, INCIDENT_WORDS, MAINTENANCE_WORDS } from "../../public/words";
import { Chip, Shape } from "../../ui/blocks";
import { RelativeTime, relativeTime } from "../../ui/times";
import {
  incidentPath,
  INCIDENTS_PATH,
  MAINTENANCE_PATH,
  maintenancePath,
} from "../../ui/frame/paths";
import type { CurrentState } from "./current-state";
import { Block, Elapsed } from "./parts";

interface EventsProps {
  state: CurrentState;
  now: number;
}

/** Open incidents, then maintenance under way and upcoming maintenance. */
export function EventsBlock({ state, now }: EventsProps) {
  const { incidents, openCount, maintenance, pageNames, outageCounts } = state;
  if (incidents.length + maintenance.length === 0) {
    return (
      <Block
        id="incidents"
        title="Incidents and maintenance"
        aside={<a href={INCIDENTS_PATH}>All incidents</a>}
      >
        <p class="block-note">
          No incident is open, and no maintenance is planned for the next 30 days.
        </p>
      </Block>
    );
  }
  return (
    <Block
      id="incidents"
      title={incidents.length === 0 ? "Maintenance" : "Incidents and maintenance"}
      aside={
        incidents.length === 0 ? (
          <a href={MAINTENANCE_PATH}>All maintenance</a>
        ) : (
          <a href={INCIDENTS_PATH}>All incidents</a>
        )
      }
    >
      <ul class="rows">
        {incidents.map((record) => (
          <IncidentItem
            key={record.row.id}
            record={record}
            monitorCount={outageCounts.get(record.row.id)?.monitors}
            pageNames={pageNames}
            now={now}
          />
        ))}
        {openCount > incidents.length ? (
          <li class="row-more">
            <a href={`${INCIDENTS_PATH}?show=open`}>All {plural(openCount, "open incident")}</a>
          </li>
        ) : null}
        {maintenance.map((record) => (
          <MaintenanceItem key={record.row.id} record={record} pageNames={pageNames} now={now} />
        ))}
      </ul>
    </Block>
  );
}

/** Maximum number of components that a row names. */
const NAMES_SHOWN = 3;

function namesOf(components: readonly { name: string }[], pageName: string | undefined): string {
  const names = components.slice(0, NAMES_SHOWN).map(({ name }) => name);
  const more = components.length - names.length;
  const text = names.join(", ") + (more > 0 ? ` and ${more} more` : "");
  return [text, pageName].filter(Boolean).join(" · ");
}

interface ItemProps<Shown> {
  record: Shown;
  pageNames: CurrentState["pageNames"];
  now: number;
}

function IncidentItem({
  record,
  monitorCount = 0,
  pageNames,
  now,
}: ItemProps<IncidentRecord> & { monitorCount: number | undefined }) {
  const { id, name, status, startedAt, impact, pageId } = record.row;
  const names = namesOf(record.components, pageNames?.get(pageId));
  const tone = IMPACT_TONES[impact];
  return (
    <li class="row">
      <Shape tone={tone} />
      <div>
        <p class="row-title">
          <a href={incidentPath(id)}>{name}</a>
        </p>
        <p class="row-note">
          {INCIDENT_WORDS[status]} · <Elapsed since={startedAt} now={now} />
          {monitorCount > 1 ? ` · ${plural(monitorCount, "monitor")}` : ""}
          {names === "" ? "" : ` · ${names}`}
        </p>
      </div>
      <div class="row-side">
        <Chip tone={tone}>{IMPACT_WORDS[impact]}</Chip>
      </div>
    </li>
  );
}

function MaintenanceItem({ record, pageNames, now }: ItemProps<MaintenanceRecord>) {
  const { id, name, status, scheduledFor, scheduledUntil, pageId } = record.row;
  const isOn = isUnderWay(status);
  const names = namesOf(record.components, pageNames?.get(pageId));
  return (
    <li class="row">
      <Shape tone={isOn ? "maint" : "none"} />
      <div>
        <p class="row-title">
          <a href={maintenancePath(id)}>{name}</a>
        </p>
        <p class="row-note">
          {isOn ? (
            <>
              Planned to end <RelativeTime at={toIso(scheduledUntil)} now={now} />
            </>
          ) : (
            span(scheduledFor, scheduledUntil)
          )}
          {names === "" ? "" : ` · ${names}`}
        </p>
      </div>
      <div class="row-side">
        <Chip {...(isOn ? { tone: "maint" as const } : {})}>
          {isOn ? MAINTENANCE_WORDS[status] : capital(relativeTime(scheduledFor, now))}
        </Chip>
      </div>
    </li>
  );
}

/** Returns a planned span: "24 Nov 02:00–03:00 UTC". */
function span(from: number, until: number): string {
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
  const timeOf = (at: number) => toIso(at).slice(11, 16);
  const end = until - from < DAY_MS ? timeOf(until) : `${day.format(until)} ${timeOf(until)}`;
  return `${day.format(from)} ${timeOf(from)}–${end} UTC`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
