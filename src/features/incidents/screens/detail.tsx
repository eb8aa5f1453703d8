import { type Role, roleAllows } from "../../../base/actor";
import { conflict, invalidFields } from "../../../base/errors";
import {
  badnessOf,
  type ComponentStatus,
  INCIDENT_STATUSES,
  type IncidentStatus,
  listedTone,
  phaseTone,
  STATUS_TONES,
} from "../../../base/status";
import { capitalised, plural, spaced } from "../../../base/text";
import type { Reader } from "../../../db/statements";
import { toIso } from "../../../base/time";
import { composed, validate } from "../../../base/validation";
import { actorOf, sessionOf } from "../../../http/request-context";
import { pathsOf } from "../../../public/page-context";
import { hasEnded, INCIDENT_WORDS, IncidentState } from "../../../public/state";
import { MarkdownText } from "../../../public/text";
import { Columns, Notice, Phases, State, STATUS_WORDS } from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import { DetailCard, HeadFact, HeadFacts, MoreMenu } from "../../../ui/detail";
import { Actions, Form } from "../../../ui/form";
import type { StateOf } from "../../../ui/forms/form";
import { newFormToken } from "../../../ui/frame/changes";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import {
  incidentPath,
  INCIDENTS_PATH,
  monitorPath,
  pagePath,
  withQuery,
} from "../../../ui/frame/paths";
import type { Screen } from "../../../ui/frame/render";
import { Icon } from "../../../ui/icons";
import { PageHead } from "../../../ui/navigation";
import type { Area } from "../../../ui/screens/area";
import type { At } from "../../../ui/screens/routes";
import { ClockTime, lasting, RelativeTime } from "../../../ui/times";
import { findComponents } from "../../components/store";
import {
  fillInTemplate,
  fromBuiltIn,
  RESOLVED_TEXT,
  UPDATE_TEMPLATES,
} from "../../incident-templates/screens/offered";
import { audienceNoteOf, isCounting, Notified } from "../../timeline/screens/mail";
import { Affected, UpdateTimeline } from "../../timeline/screens/updates";
import { elapsed } from "../../overview/screens/parts";
import { splitOff } from "../automatic";
import { addUpdate, deleteIncident, putPostmortem, updateIncident } from "../incidents";
import { getIncident, type IncidentRecord } from "../records";
import { findIncident } from "../store";
import { AddUpdateBody, type Incident, PutPostmortemBody, SplitOffBody } from "../wire";
import {
  type Detected,
  DetectedBy,
  OnlyMonitor,
  Recovered,
  RESOLVE_INTENT,
  SPLIT_FORM,
  SplitRejection,
  StillFailing,
  WrittenBy,
} from "./detected-by";
import {
  affectedIds,
  IncidentFacts,
  isOver,
  NextUpdate,
  OUTLINE,
  POSTMORTEM_FORM,
  UPDATE_FORM,
} from "./forms";
import {
  incidentCrumbs,
  type IncidentView,
  previewIncident,
  readIncidentForm,
  readIncidentView,
  type StatusTime,
} from "./view";

interface IncidentDetailProps {
  view: IncidentView;
  nextUpdate: StateOf<typeof UPDATE_FORM>;
  /** True if a link asks for the form for the next update, which a resolved incident otherwise hides. */
  isWriting: boolean;
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
function IncidentDetail(props: IncidentDetailProps) {
  const { view, nextUpdate, isWriting, split, resolveToken, role, before, now } = props;
  const { incident, authors, only } = view;
  const { id } = incident;
  const canWrite = roleAllows(role, "editor");
  const monitor = only?.record.row;
  return (
    <>
      <PageHead
        title={incident.name}
        crumbs={[{ href: INCIDENTS_PATH, label: "Incidents" }, { label: incident.name }]}
        actions={<DetailActions view={view} canWrite={canWrite} isWriting={isWriting} />}
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
            <IncidentFacts
              view={view}
              editPath={canWrite ? incidentPath(id, "edit") : undefined}
              now={now}
            />
          </>
        }
      >
        {canWrite ? <NextUpdate state={nextUpdate} view={view} isWriting={isWriting} /> : null}
        <UpdateTimeline
          updates={incident.updates}
          words={INCIDENT_WORDS}
          toneOf={(status) => phaseTone({ ...incident, status })}
          components={view.components}
          authors={authors}
          {...(monitor
            ? {
                monitor: <a href={monitorPath(monitor.id)}>{monitor.name}</a>,
              }
            : {})}
          home={incidentPath(id)}
          before={before}
          editPath={canWrite ? (updateId) => incidentPath(id, "updates", updateId) : undefined}
          now={now}
        />
        <DetectedBy view={view} split={canWrite ? split : undefined} now={now} />
        <Postmortem view={view} canWrite={canWrite} now={now} />
      </Columns>
    </>
  );
}

/** Impact of an incident, its duration and its page. */
function Now({ view, now }: { view: IncidentView; now: number }) {
  const { incident, page, monitors, outages } = view;
  const failing = outages.failingMonitorIds.length;
  const { started_at: startedAt, resolved_at: resolvedAt } = incident;
  return (
    <HeadFacts>
      {incident.draft ? (
        <State tone={phaseTone(incident)}>Draft</State>
      ) : (
        <IncidentState incident={incident} />
      )}
      <HeadFact icon="clock">
        {lasting(startedAt, resolvedAt ?? toIso(now))},{" "}
        {resolvedAt === null ? (
          <>
            since <ClockTime at={startedAt} now={now} hasZone />
          </>
        ) : (
          <>
            <ClockTime at={startedAt} now={now} />–
            {/* The day of the end is named only if it differs from that of the start. */}
            <ClockTime at={resolvedAt} now={Date.parse(startedAt)} hasZone />
          </>
        )}
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
      tone={isOver(incident) ? phaseTone(incident) : listedTone(incident)}
      now={now}
      items={INCIDENT_STATUSES.map((status) => ({
        label: INCIDENT_WORDS[status],
        at: times[status],
      }))}
      current={INCIDENT_STATUSES.indexOf(incident.status)}
    />
  );
}

function DetailActions(props: { view: IncidentView; canWrite: boolean; isWriting: boolean }) {
  const { view, canWrite, isWriting } = props;
  const { incident, page } = view;
  const postmortemLabel = incident.postmortem ? "Edit post-mortem" : "Write post-mortem";
  return (
    <div class="actions" id="incident-actions" data-live="">
      {incident.draft ? null : (
        <ButtonLink href={pathsOf(page.slug).incident(incident.id)} opensTab>
          <Icon name="external-link" />
          View on page
        </ButtonLink>
      )}
      {canWrite ? (
        <>
          {isOver(incident) ? (
            <ButtonLink
              href={incidentPath(incident.id, "postmortem")}
              kind={isWriting || isPublished(incident) ? "quiet" : "primary"}
            >
              <Icon name="pencil" />
              {postmortemLabel}
            </ButtonLink>
          ) : (
            <ButtonLink href={incidentPath(incident.id, "edit")}>
              <Icon name="pencil" />
              Edit
            </ButtonLink>
          )}
          <MoreMenu label="More actions">
            {isOver(incident) ? (
              <>
                <ButtonLink href={incidentPath(incident.id, "edit")}>Edit incident</ButtonLink>
                <ButtonLink href={writingPath(incident, "resolved")}>Add update</ButtonLink>
                <ButtonLink href={writingPath(incident, "investigating")}>
                  Reopen incident
                </ButtonLink>
              </>
            ) : (
              <ButtonLink href={incidentPath(incident.id, "postmortem")}>
                {postmortemLabel}
              </ButtonLink>
            )}
            <ButtonLink href={incidentPath(incident.id, "delete")} kind="danger" dialog>
              Delete
            </ButtonLink>
          </MoreMenu>
        </>
      ) : null}
    </div>
  );
}

/** Returns the path of an incident with its form for the next update, which starts with a status. */
function writingPath({ id }: Incident, status: IncidentStatus): string {
  return `${withQuery(incidentPath(id), { status })}#next-update`;
}

function DraftNotice({ id, canWrite }: { id: string; canWrite: boolean }) {
  const action = incidentPath(id, "publish");
  return (
    <Notice tone="degraded" title="This is a draft">
      <p>
        Only signed-in users see this draft. Publishing it changes component statuses and sends
        notifications.
      </p>
      {canWrite ? (
        <Form action={action}>
          <Actions>
            <Button kind="primary">Publish incident</Button>
            <Button previewAction={`${action}/preview`}>Preview</Button>
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
  if (!postmortem) return null;
  const { body, published_at: publishedAt } = postmortem;
  return (
    <DetailCard
      title="Post-mortem"
      liveId="postmortem"
      end={canWrite ? <a href={incidentPath(id, "postmortem")}>Edit post-mortem</a> : undefined}
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

/** Templates for further updates, also for forms that were opened before these were hidden. */
const UPDATE_OFFER = { own: [], builtIn: UPDATE_TEMPLATES.map(fromBuiltIn) };

/** Adds the screen of one incident, its next update, its publication and its deletion. */
export function addIncidentRoutes(area: Area, { ctx }: AdminDependencies): void {
  const home = ({ params }: { params: { id: string } }) => incidentPath(params.id);

  function detail(
    { requestContext, query }: Pick<At<string>, "requestContext" | "query">,
    view: IncidentView,
    nextUpdate: StateOf<typeof UPDATE_FORM>,
    more: { isWriting?: boolean; split?: StateOf<typeof SPLIT_FORM> } = {},
  ): Screen {
    const { role } = sessionOf(requestContext).user;
    const page = {
      view,
      nextUpdate,
      isWriting: more.isWriting ?? false,
      split:
        more.split ?? SPLIT_FORM.state(SPLIT_FORM.initial(), view, { form: newFormToken(ctx) }),
      resolveToken: newFormToken(ctx),
      role,
      before: query["before"],
      now: ctx.clock.now(),
    };
    return { title: view.incident.name, children: <IncidentDetail {...page} /> };
  }

  function emptyUpdate(view: IncidentView, status = view.incident.status, body = "") {
    const values = UPDATE_FORM.initial({ status, body });
    return UPDATE_FORM.state(values, view, { form: newFormToken(ctx) });
  }

  area.screen(
    "/:id",
    (at) => {
      const view = readIncidentView(ctx, ctx.db, at.params.id);
      // A link may propose the next status, such as that of the overview for a recovered monitor.
      const proposed = INCIDENT_STATUSES.find((status) => status === at.query["status"]);
      const isResolving = proposed === "resolved" && view.incident.status !== "resolved";
      const state = emptyUpdate(view, proposed, isResolving ? RESOLVED_TEXT : "");
      return detail(at, view, state, { isWriting: proposed !== undefined });
    },
    { role: "viewer" },
  );

  area.form("/:id/updates", {
    form: UPDATE_FORM,
    back: home,
    load: (reader, { params }) => readIncidentForm(ctx, reader, params.id),
    show(state, at) {
      const { values, notice, context } = state;
      const view = readIncidentView(ctx, ctx.db, at.params.id);
      // After a conflict, the form starts from the current status again.
      const { status } = notice === undefined ? values : context.incident;
      const subject = { id: at.params.id, kind: "incident" } as const;
      const audience = audienceNoteOf(ctx, ctx.db, view.page, subject, affectedIds(state));
      const shown = { ...state, values: { ...values, status } };
      return detail(at, { ...view, audience }, shown, { isWriting: true });
    },
    redisplay: (values, sent) =>
      isCounting(sent) ? values : fillInTemplate(values, sent, UPDATE_OFFER),
    submit(tx, body, actor, { params, sent }, { incident }) {
      const seen = sent.text("seen_status");
      if (sent.text("intent") === RESOLVE_INTENT && incident.status === "resolved") {
        throw conflict("The incident was resolved meanwhile, so nothing was published.");
      }
      if (seen !== "" && seen === body.status && seen !== incident.status) {
        throw conflict(
          `The incident became “${INCIDENT_WORDS[incident.status]}” while you were writing, so your update was not published. Your message is kept below, with the current status. Read the timeline, then submit the update again.`,
        );
      }
      return addUpdate(ctx, tx, params.id, validate(AddUpdateBody, body), actor).update.id;
    },
    done(updateId, at) {
      // The incident may have been deleted since the form was sent for the first time.
      const isDeleted = findIncident(ctx.db, { id: at.params.id }) === undefined;
      if (isDeleted) return { path: INCIDENTS_PATH, text: undefined };
      return {
        path: home(at),
        text: updateText(ctx.db, getIncident(ctx.db, at.params.id, true), updateId),
      };
    },
    preview: (tx, _, { params, requestContext }) =>
      previewIncident(ctx, tx, params.id, actorOf(requestContext)),
  });

  area.form("/:id/split-off", {
    form: SPLIT_FORM,
    back: home,
    load: (reader, { params }) => getIncident(reader, params.id, true),
    show(state, at) {
      const view = readIncidentView(ctx, ctx.db, at.params.id);
      return detail(at, view, emptyUpdate(view), { split: state });
    },
    // A conflict, such as a selection of all, concerns the selected monitors.
    conflictField: "monitors",
    submit: (tx, body, actor, { params }) =>
      splitOff(ctx, tx, params.id, validate(SplitOffBody, body), actor).row.id,
    done: (id, at, { monitors }) => ({
      // The incident may have been deleted since the form was sent for the first time.
      path: findIncident(ctx.db, { id: at.params.id }) ? home(at) : INCIDENTS_PATH,
      text: `${plural(new Set(monitors).size, "monitor")} split off.`,
      link: { href: incidentPath(id), label: "Open the new incident" },
    }),
  });

  area.action("/:id/publish", {
    run(tx, { params }, actor) {
      const { row } = getIncident(tx, params.id, true);
      updateIncident(ctx, tx, params.id, composed({ draft: false }), actor);
      return { wasDraft: row.draft };
    },
    done: ({ wasDraft }, at) => ({
      path: home(at),
      text: wasDraft ? "The incident was published." : undefined,
    }),
  });

  area.preview("/:id/publish/preview", {
    back: home,
    change: (tx, { params, requestContext }) =>
      previewIncident(ctx, tx, params.id, actorOf(requestContext)),
  });

  area.deletion({
    noun: "incident",
    find: (reader, id) => getIncident(reader, id, true),
    nameOf: ({ row }) => row.name,
    consequences: ({ row }) => <Consequences view={readIncidentView(ctx, ctx.db, row.id)} />,
    remove: (tx, { row }, actor) => deleteIncident(ctx, tx, row.id, actor),
  });
}

/** Returns the confirmation of an update. */
function updateText(reader: Reader, incident: IncidentRecord, updateId: string): string {
  const { row, updates } = incident;
  if (row.draft) return "The update was added to the draft.";
  // Ids sort by creation.
  const upToThis = updates
    .filter(({ id }) => id <= updateId)
    .toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const [isResolved, wasResolved] = upToThis.map(({ status }) => status === "resolved");
  if (isResolved && !wasResolved)
    return `The incident is resolved.${stillFailing(reader, incident)}`;
  if (!isResolved && wasResolved) return "The incident is open again.";
  return "The update was published.";
}

/** Returns a sentence about the components of a resolved incident that a monitor or a person still marks; "" without any. */
function stillFailing(reader: Reader, { components }: IncidentRecord): string {
  const ids = components.map(({ id }) => id);
  const failing = [...findComponents(reader, ids).values()].filter(
    ({ status }) => status !== "operational",
  );
  const [first] = failing;
  if (first === undefined) return "";
  const subject =
    failing.length === 1 ? `${first.name} is` : `${failing.length} of its components are`;
  return ` ${subject} still not operational, for another cause.`;
}

/** Components that an incident names, with the statuses that it gives, or gave and for how long. */
function Components({ view: { incident, components, spent } }: { view: IncidentView }) {
  const isOpen = incident.status !== "resolved";
  const onPage = new Set(components.map(({ id }) => id));
  return (
    <Affected
      title={isOpen ? "Affects" : "Affected (ended)"}
      components={incident.components.map(({ id, name, status }) => ({
        id,
        name,
        tone: hasEnded(status, isOpen) ? "ok" : STATUS_TONES[status],
        note: isOpen && hasEnded(status, isOpen) ? "Ended" : statusesInWords(status, spent.get(id)),
        hasScreen: onPage.has(id),
      }))}
      none="No component. The incident changes no status."
    />
  );
}

/** Returns the statuses that a component had, worst first: "Major outage for 51 min, partial outage for 35 min". */
function statusesInWords(status: ComponentStatus, spent: readonly StatusTime[] = []): string {
  if (spent.length === 0) return STATUS_WORDS[status];
  const parts = spent
    .toSorted((a, b) => badnessOf(b.status) - badnessOf(a.status))
    .map(({ status: each, ms }) => `${spaced(each)} for ${elapsed(0, ms)}`);
  return capitalised(parts.join(", "));
}

/** Data that is lost with an incident. */
function Consequences({ view: { incident, monitors } }: { view: Detected }) {
  return (
    <>
      <p>{consequences(incident)} This cannot be undone.</p>
      <StillFailing monitors={monitors.filter(({ endedAt }) => endedAt === null)} />
      {incident.draft || incident.status === "resolved" ? null : (
        <p>
          If the incident is over, resolve it instead: resolved incidents stay on the page as
          history.
        </p>
      )}
    </>
  );
}

function consequences({ draft, status }: Incident): string {
  if (draft) return "The draft is deleted. No notifications were sent for it.";
  const gone = "The incident is removed from the page, the feeds and the API.";
  return status === "resolved"
    ? `${gone} The history of the components keeps its statuses.`
    : `${gone} The component statuses that it set end now. The history of the components keeps them.`;
}

/** Adds the form that writes, publishes and withdraws the post-mortem of an incident. */
export function addPostmortemRoutes(area: Area, { ctx }: AdminDependencies): void {
  area.editForm("/:id/postmortem", {
    form: POSTMORTEM_FORM,
    load(reader, { params, sent }) {
      const context = readIncidentForm(ctx, reader, params.id);
      const { postmortem, version } = context.incident;
      // A new post-mortem starts with the outline, which is a change once it is submitted.
      const body = postmortem?.body ?? (sent === undefined ? OUTLINE : "");
      return {
        resource: { body, publish: isPublished(context.incident), notify: true },
        version,
        context,
      };
    },
    show({ context: { incident, page } }) {
      const texts = {
        title: `Post-mortem of ${incident.name}`,
        heading: "Post-mortem",
        crumbs: incidentCrumbs(incident),
        intro: describePostmortem(incident),
      };
      return isPublished(incident)
        ? {
            ...texts,
            button: "Save changes",
            more: (
              <Button name="do" value="withdraw">
                Save and withdraw
              </Button>
            ),
          }
        : {
            ...texts,
            foot: audienceNoteOf(ctx, ctx.db, page, { id: incident.id, kind: "incident" })?.exact,
            button: { text: "Publish post-mortem", name: "do", value: "publish" },
            more: <Button>Save draft</Button>,
          };
    },
    update(tx, changes, actor, { params }, { incident }) {
      const { body = incident.postmortem?.body ?? "", publish, notify } = changes;
      // The box alone changes nothing.
      if (publish === undefined && changes.body === undefined) return false;
      if (publish && body.trim() === OUTLINE.trim()) {
        const detail = "contains only headings. Write text below them";
        throw invalidFields([{ pointer: "#/body", detail }]);
      }
      const input = validate(PutPostmortemBody, {
        body,
        ...(publish === undefined ? {} : { publish }),
        ...(notify === undefined ? {} : { notify }),
      });
      putPostmortem(ctx, tx, params.id, input, actor);
      return true;
    },
    done: ({ params }, { publish }) => ({
      path: incidentPath(params.id),
      text: doneText(publish),
    }),
    preview(tx, { params: { id }, requestContext }) {
      const actor = actorOf(requestContext);
      const body = getIncident(tx, id, true).row.postmortemBody ?? "";
      putPostmortem(ctx, tx, id, composed({ body, publish: true }), actor);
      return previewIncident(ctx, tx, id, actor);
    },
  });
}

/** Returns the confirmation for the button that was pressed. */
function doneText(button: string): string {
  if (button === "publish") return "The post-mortem was published.";
  if (button === "withdraw") return "The post-mortem was withdrawn.";
  return "The post-mortem was saved.";
}

function describePostmortem(incident: Incident): string {
  if (incident.draft) {
    return "The incident is a draft. Visitors see the post-mortem once both are published.";
  }
  return isPublished(incident)
    ? "Published: the page shows saved changes at once."
    : "Only signed-in users see the post-mortem until you publish it.";
}

function isPublished({ postmortem }: Incident): boolean {
  return Boolean(postmortem?.published_at);
}
