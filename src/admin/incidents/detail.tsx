import { type Impact, INCIDENT_STATUSES, type IncidentStatus } from "../../domain/incident-status";
import { type Role, roleAllows } from "../../domain/role";
import { IMPACT_TONES, type Tone } from "../../domain/tone";
import type { Incident } from "../../features/incidents/model";
import { plural } from "../../kernel/text";
import { toIso } from "../../kernel/time";
import { pathsOf } from "../../public/page-paths";
import { MarkdownText } from "../../public/text";
import { IMPACT_WORDS, INCIDENT_WORDS, lasting } from "../../public/words";
import { Actions, Form } from "../../ui/form";
import { Button, ButtonLink } from "../../ui/buttons";
import { ClockTime, RelativeTime } from "../../ui/relative-time";
import { Columns } from "../../ui/blocks";
import { DetailCard, HeadFact, HeadFacts, MoreMenu } from "../../ui/detail";
import { Icon } from "../../ui/icons";
import { Notice } from "../../ui/notices";
import { PageHead } from "../../ui/navigation";
import { Phases } from "../../ui/timeline";
import { State } from "../../ui/labels";
import type { StateOf } from "../forms/form";
import { INCIDENTS_PATH, monitorPath, pagePath } from "../paths";
import { Notified } from "../timeline/notified";
import { UpdateTimeline } from "../timeline/update-timeline";
import { NextUpdate } from "./composer";
import {
  DetectedBy,
  OnlyMonitor,
  Recovered,
  type SPLIT_FORM,
  SplitRejection,
  WrittenBy,
} from "./detected-by";
import { IncidentFacts } from "./facts";
import type { UPDATE_FORM } from "./forms";
import { pathsOfIncident } from "./incident-paths";
import type { IncidentView } from "./incident-view";
import { Components } from "./side-cards";

interface IncidentDetailProps {
  nextUpdate: StateOf<typeof UPDATE_FORM>;
  split: StateOf<typeof SPLIT_FORM>;
  /** Token of the form that resolves the incident. */
  resolveToken: string;
  role: Role;
  /** Id of the update after which the timeline starts; undefined for the newest part. */
  before: string | undefined;
  /** Unix ms. */
  now: number;
}

/** One incident: phases, form for the next update, timeline, neighbours and properties. */
export function IncidentDetail(props: IncidentDetailProps) {
  const { nextUpdate, split, resolveToken, role, before, now } = props;
  const view = nextUpdate.context;
  const { incident, authors, only } = view;
  const paths = pathsOfIncident(incident.id);
  const canWrite = roleAllows(role, "editor");
  const monitor = only?.record.row;
  return (
    <>
      <PageHead
        title={incident.name}
        crumbs={[{ href: INCIDENTS_PATH, label: "Incidents" }, { label: incident.name }]}
        actions={<DetailActions view={view} canWrite={canWrite} />}
      >
        <div id="incident-state" data-live="">
          <Now view={view} now={now} />
        </div>
      </PageHead>
      <div id="incident-phases" data-live="">
        <IncidentPhases view={view} now={now} />
      </div>
      <div class="slot" id="incident-writer" data-live="">
        <WrittenBy view={view} canWrite={canWrite} now={now} />
      </div>
      <div class="slot" id="incident-recovered" data-live="">
        <Recovered view={view} token={resolveToken} canWrite={canWrite} now={now} />
      </div>
      <SplitRejection view={view} split={split} />
      {incident.draft ? <DraftNotice id={incident.id} canWrite={canWrite} /> : null}
      <Columns
        aside={
          <>
            <Components view={view} />
            <OnlyMonitor view={view} now={now} />
            {roleAllows(role, "admin") && !incident.draft ? (
              <Notified notified={view.notified} now={now} />
            ) : null}
            <IncidentFacts view={view} editPath={canWrite ? paths.edit : undefined} now={now} />
          </>
        }
      >
        {canWrite ? <NextUpdate state={nextUpdate} /> : null}
        <UpdateTimeline
          updates={incident.updates}
          words={INCIDENT_WORDS}
          toneOf={(status) => toneOfStatus(incident, status)}
          components={view.components}
          authors={authors}
          {...(monitor
            ? {
                monitor: <a href={monitorPath(monitor.id)}>{monitor.name}</a>,
              }
            : {})}
          home={paths.home}
          before={before}
          editPath={canWrite ? paths.update : undefined}
          now={now}
        />
        <DetectedBy view={view} split={canWrite ? split : undefined} now={now} />
        <Postmortem view={view} canWrite={canWrite} now={now} />
      </Columns>
    </>
  );
}

/** Returns the tone of a status of an incident: that of the impact until a fix is in place. */
function toneOfStatus({ draft, impact }: Incident, status: IncidentStatus): Tone {
  if (draft) return "none";
  if (status === "resolved") return "ok";
  return status === "monitoring" ? "degraded" : IMPACT_TONES[impact];
}

/** Returns the tone of an incident, which is that of its impact until it is resolved. */
function toneOf({ draft, impact, status }: Incident): Tone {
  if (draft) return "none";
  return status === "resolved" ? "ok" : IMPACT_TONES[impact];
}

/** Impact of an incident that is over. */
const PAST_IMPACTS: Record<Impact, string> = {
  none: "Had no impact",
  minor: "Was minor",
  major: "Was major",
  critical: "Was critical",
};

/** Impact of an incident, its duration and its page. */
function Now({ view, now }: { view: IncidentView; now: number }) {
  const { incident, page, monitors, outages } = view;
  const failing = outages.failingMonitorIds.length;
  const { draft, impact, started_at: startedAt, resolved_at: resolvedAt } = incident;
  const duration = lasting(startedAt, resolvedAt ?? toIso(now));
  const isOver = incident.status === "resolved";
  return (
    <HeadFacts>
      <State tone={toneOf(incident)}>
        {draft ? "Draft" : isOver ? INCIDENT_WORDS.resolved : IMPACT_WORDS[impact]}
      </State>
      {isOver && !draft ? <span class="muted">{PAST_IMPACTS[impact]}</span> : null}
      <HeadFact icon="clock">
        {resolvedAt === null ? `${duration}, since ` : `Lasted ${duration}, from `}
        <ClockTime at={startedAt} now={now} /> UTC
      </HeadFact>
      {monitors.length < 2 ? null : (
        <HeadFact icon="activity">
          <a href="#detected-by">{plural(monitors.length, "monitor")}</a>
          {failing === 0 ? null : `, ${failing.toLocaleString("en")} down`}
        </HeadFact>
      )}
      <HeadFact icon="globe">
        <a href={pagePath(page.id)}>{page.name}</a>
      </HeadFact>
    </HeadFacts>
  );
}

/** Statuses of an incident with their times, of which the current one is marked. */
function IncidentPhases({ view: { incident }, now }: { view: IncidentView; now: number }) {
  const times = {
    investigating: incident.started_at,
    identified: incident.identified_at,
    monitoring: incident.monitoring_at,
    resolved: incident.resolved_at,
  };
  return (
    <Phases
      tone={toneOf(incident)}
      now={now}
      items={INCIDENT_STATUSES.map((status) => ({
        label: INCIDENT_WORDS[status],
        at: times[status],
      }))}
      current={INCIDENT_STATUSES.indexOf(incident.status)}
    />
  );
}

function DetailActions({ view, canWrite }: { view: IncidentView; canWrite: boolean }) {
  const { incident, page } = view;
  const paths = pathsOfIncident(incident.id);
  return (
    <>
      {incident.draft ? null : (
        <ButtonLink href={pathsOf(page.slug).incident(incident.id)} opensTab>
          <Icon name="external-link" />
          View on page
        </ButtonLink>
      )}
      {canWrite ? (
        <>
          <ButtonLink href={paths.edit}>
            <Icon name="pencil" />
            Edit
          </ButtonLink>
          <MoreMenu label="More actions">
            <ButtonLink href={paths.delete} kind="danger" dialog>
              Delete
            </ButtonLink>
          </MoreMenu>
        </>
      ) : null}
    </>
  );
}

function DraftNotice({ id, canWrite }: { id: string; canWrite: boolean }) {
  const paths = pathsOfIncident(id);
  return (
    <Notice tone="degraded" title="This is a draft">
      <p>
        Only signed-in users see this draft. Publishing it changes component statuses and sends
        notifications.
      </p>
      {canWrite ? (
        <Form action={paths.publish}>
          <Actions>
            <Button kind="primary">Publish incident</Button>
            <Button previewAction={`${paths.publish}/preview`}>Preview</Button>
          </Actions>
        </Form>
      ) : null}
    </Notice>
  );
}

function Postmortem({
  view,
  canWrite,
  now,
}: {
  view: IncidentView;
  canWrite: boolean;
  now: number;
}) {
  const { postmortem, id } = view.incident;
  const path = pathsOfIncident(id).postmortem;
  if (!postmortem && !canWrite) return null;
  if (!postmortem) {
    return (
      <DetailCard
        title="Post-mortem"
        liveId="postmortem"
        end={<a href={path}>Write post-mortem</a>}
      >
        <p class="muted">
          No post-mortem yet. It explains what happened, why, and what will prevent it.
        </p>
      </DetailCard>
    );
  }
  const { body, published_at: publishedAt } = postmortem;
  return (
    <DetailCard
      title="Post-mortem"
      liveId="postmortem"
      end={canWrite ? <a href={path}>Edit post-mortem</a> : undefined}
    >
      <p class="muted">
        {publishedAt === null ? (
          "Not published yet: only signed-in users see the post-mortem."
        ) : (
          <>
            Published <RelativeTime at={publishedAt} now={now} />
          </>
        )}
      </p>
      <MarkdownText source={body} topHeading={3} />
    </DetailCard>
  );
}
