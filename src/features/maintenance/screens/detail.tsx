import { validate } from "../../../base/validation";
import { AddMaintenanceUpdateBody, UpdateMaintenanceBody } from "../wire";
import { type Role, roleAllows } from "../../../base/actor";
import { conflict } from "../../../base/errors";
import { type MaintenanceStatus, phaseTone } from "../../../base/status";
import { zoneLabel } from "../../../base/zones";
import { sessionOf } from "../../../http/request-context";
import { pathsOf } from "../../../public/page-context";
import { MAINTENANCE_WORDS, MaintenanceState } from "../../../public/state";
import { lasting, TimeSpan, useZone, zoneSpan } from "../../../ui/times";
import { CodeBlock, Columns, FormNotice, Notice, Phases } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { HeadFact, HeadFacts, MoreMenu } from "../../../ui/detail";
import type { StateOf } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import {
  MAINTENANCE_PATH,
  maintenancePath,
  maintenanceSchedulePath,
  pagePath,
} from "../../../ui/frame/paths";
import type { Screen } from "../../../ui/frame/render";
import { Icon } from "../../../ui/icons";
import { PageHead } from "../../../ui/navigation";
import type { Area } from "../../../ui/screens/area";
import { type At, ShowInstead } from "../../../ui/screens/routes";
import { Notified, notifyLabel } from "../../timeline/screens/mail";
import {
  Affected,
  timeFacts,
  TimelineFacts,
  UpdateForm,
  UpdateTimeline,
} from "../../timeline/screens/updates";
import { addMaintenanceUpdate, updateMaintenance } from "../maintenance";
import { isEnded, isUnderWay } from "../rules";
import type { Maintenance } from "../wire";
import { describeReminder, MAINTENANCE_FORM, STEP_FORM, UPDATE_FIELDS, UPDATE_FORM } from "./forms";
import { type MaintenanceView, previewMaintenance, readMaintenanceView } from "./view";

/** Statuses of a maintenance that is not cancelled, in order. */
const PHASES = ["scheduled", "in_progress", "verifying", "completed"] as const;

/** Effect of a maintenance on its components, by status. */
const NOTES: Readonly<Record<MaintenanceStatus, string>> = {
  scheduled: "Under maintenance once it starts",
  in_progress: "Under maintenance",
  verifying: "Under maintenance",
  completed: "Was under maintenance",
  cancelled: "Not affected, cancelled",
};

interface MaintenanceDetailProps {
  nextUpdate: StateOf<typeof UPDATE_FORM>;
  role: Role;
  /** Id of the update after which the timeline starts; undefined for the newest part. */
  before: string | undefined;
  /** Unix ms. */
  now: number;
}

/** One maintenance: phases, form for the next update, timeline, neighbours and properties. */
function MaintenanceDetail({ nextUpdate, role, before, now }: MaintenanceDetailProps) {
  const view = nextUpdate.context;
  const { maintenance, authors, notified } = view;
  const canChange = roleAllows(role, "editor") && !isEnded(maintenance.status);
  return (
    <>
      <PageHead
        title={maintenance.name}
        crumbs={[{ href: MAINTENANCE_PATH, label: "Maintenance" }, { label: maintenance.name }]}
        actions={<DetailActions view={view} canChange={canChange} now={now} />}
      >
        <div id="maintenance-state" data-live="">
          <Now view={view} />
        </div>
      </PageHead>
      <div class="slot" id="maintenance-phases" data-live="">
        <MaintenancePhases view={view} now={now} />
      </div>
      <Columns
        aside={
          <>
            <Components view={view} />
            {roleAllows(role, "admin") ? <Notified notified={notified} now={now} /> : null}
            <MaintenanceFacts
              view={view}
              editPath={canChange ? maintenancePath(maintenance.id, "edit") : undefined}
              canOpenSchedule={roleAllows(role, "editor")}
              now={now}
            />
          </>
        }
      >
        {canChange ? (
          <section class="card">
            <UpdateForm
              title="Next update"
              fields={UPDATE_FIELDS}
              state={nextUpdate}
              action={maintenancePath(maintenance.id)}
              notifyLabel={notifyLabel(notified)}
              audience={view.audience}
            />
          </section>
        ) : (
          <RejectedUpdate state={nextUpdate} />
        )}
        <UpdateTimeline
          updates={maintenance.updates}
          words={MAINTENANCE_WORDS}
          toneOf={(status) => phaseTone({ status })}
          components={view.components}
          authors={authors}
          home={maintenancePath(maintenance.id)}
          before={before}
          now={now}
        />
      </Columns>
    </>
  );
}

/** Status, planned time and page of a maintenance. */
function Now({ view: { maintenance, page } }: { view: MaintenanceView }) {
  const { scheduled_for: from, scheduled_until: until } = maintenance;
  const zone = zoneLabel(useZone());
  return (
    <HeadFacts>
      <MaintenanceState maintenance={maintenance} />
      <HeadFact icon="clock">
        {lasting(from, until)}, <TimeSpan from={from} until={until} timeZone={zone} />
      </HeadFact>
      <HeadFact icon="globe">
        <a href={pagePath(page.id)}>{page.name}</a>
      </HeadFact>
    </HeadFacts>
  );
}

/** Statuses of a maintenance that was not cancelled, of which the current one is marked. */
function MaintenancePhases({ view: { maintenance }, now }: { view: MaintenanceView; now: number }) {
  const { status, started_at: startedAt, completed_at: completedAt, updates } = maintenance;
  if (status === "cancelled") return null;
  const verifying = updates.findLast((update) => update.status === "verifying");
  const times = {
    scheduled: null,
    in_progress: startedAt,
    verifying: verifying?.display_at ?? null,
    completed: completedAt,
  };
  return (
    <Phases
      tone={phaseTone({ status })}
      now={now}
      items={PHASES.map((phase) => ({ label: MAINTENANCE_WORDS[phase], at: times[phase] }))}
      current={PHASES.indexOf(status)}
    />
  );
}

/** Components of a maintenance. */
function Components({ view: { maintenance, missingComponents } }: { view: MaintenanceView }) {
  const missing = new Set(missingComponents.map(({ id }) => id));
  const { components, status } = maintenance;
  return (
    <Affected
      title={status === "completed" ? "Affected (ended)" : "Affects"}
      components={components.map(({ id, name }) => ({
        id,
        name,
        tone: phaseTone({ status }),
        note: NOTES[status],
        hasScreen: !missing.has(id),
      }))}
      none="No component. The maintenance changes no status."
    />
  );
}

/** Update that was rejected because the maintenance had ended, with its text to be copied. */
function RejectedUpdate({ state }: { state: StateOf<typeof UPDATE_FORM> }) {
  const { kept, notice = kept, values } = state;
  if (notice === undefined) return null;
  return (
    <>
      <FormNotice>{notice}</FormNotice>
      <Notice tone="maint" title="Your message">
        <CodeBlock text={values.body} copyLabel="Copy text" />
      </Notice>
    </>
  );
}

function DetailActions(props: { view: MaintenanceView; canChange: boolean; now: number }) {
  const { view, canChange, now } = props;
  const { maintenance, page } = view;
  const steps = STEP_NAMES.filter((name) => STEPS[name].isPossible(maintenance.status));
  const links = (isDanger: boolean) =>
    steps
      .filter((name) => (STEPS[name].isDanger ?? false) === isDanger)
      .map((name) => (
        <ButtonLink
          key={name}
          href={maintenancePath(maintenance.id, name)}
          kind={isDanger ? "danger" : "quiet"}
          dialog
        >
          {STEPS[name].label(maintenance, now)}
        </ButtonLink>
      ));
  return (
    <div class="actions" id="maintenance-actions" data-live="">
      <ButtonLink href={pathsOf(page.slug).maintenance(maintenance.id)} opensTab>
        <Icon name="external-link" />
        View on page
      </ButtonLink>
      {canChange ? (
        <>
          <ButtonLink href={maintenancePath(maintenance.id, "edit")}>
            <Icon name="pencil" />
            Edit
          </ButtonLink>
          {links(false)}
          <MoreMenu label="More actions">{links(true)}</MoreMenu>
        </>
      ) : null}
    </div>
  );
}

/** Adds the screen of one maintenance with its next update, its edit form and its steps. */
export function addMaintenanceRoutes(area: Area, { ctx }: AdminDependencies): void {
  const home = ({ params }: { params: { id: string } }) => maintenancePath(params.id);

  function detail(
    { requestContext, query }: Pick<At<string>, "requestContext" | "query">,
    state: StateOf<typeof UPDATE_FORM>,
  ): Screen {
    const notice = state.notice && `${state.notice} Nothing was published.`;
    const { role } = sessionOf(requestContext).user;
    const page = { role, before: query["before"], now: ctx.clock.now() };
    return {
      title: state.context.maintenance.name,
      children: <MaintenanceDetail nextUpdate={{ ...state, notice }} {...page} />,
    };
  }

  area.form("/:id", {
    readRole: "viewer",
    form: UPDATE_FORM,
    load: (reader, { params }) => readMaintenanceView(ctx, reader, params.id),
    show: (state, at) => detail(at, state),
    submit: (tx, body, actor, { params }) =>
      addMaintenanceUpdate(ctx, tx, params.id, validate(AddMaintenanceUpdateBody, body), actor)
        .update.id,
    done: (_, at) => ({ path: home(at), text: "The update was published." }),
    preview: (tx, _, { params }) => previewMaintenance(ctx, tx, params.id),
  });

  area.editForm("/:id/edit", {
    form: MAINTENANCE_FORM,
    load(reader, at) {
      const context = readMaintenanceView(ctx, reader, at.params.id);
      const { maintenance } = context;
      // A submitted form is a conflict instead, so that it is shown again.
      if (at.sent === undefined && isEnded(maintenance.status)) {
        throw new ShowInstead({ path: home(at) });
      }
      const components = maintenance.components.map(({ id }) => id);
      return { resource: { ...maintenance, components }, version: maintenance.version, context };
    },
    show(state) {
      const { id, name, status } = state.context.maintenance;
      return {
        title: "Edit maintenance",
        crumbs: [
          { href: MAINTENANCE_PATH, label: "Maintenance" },
          { href: maintenancePath(id), label: name },
        ],
        intro:
          status === "scheduled"
            ? undefined
            : "After the start, the end can only be moved to a later time. Moving it sends no notifications.",
        button: "Save changes",
      };
    },
    update(tx, changes, actor, { params }, { maintenance }) {
      const body = validate(UpdateMaintenanceBody, changes);
      return updateMaintenance(ctx, tx, params.id, body, actor).version !== maintenance.version;
    },
    done: (at) => ({ path: home(at), text: "The maintenance was changed." }),
  });

  function addStep(name: StepName): void {
    const step = STEPS[name];
    area.form(`/:id/${name}`, {
      form: STEP_FORM,
      initial: () => ({ body: step.body }),
      load(reader, at) {
        const view = readMaintenanceView(ctx, reader, at.params.id);
        // A submitted form is a conflict instead, so that its message is kept.
        if (at.sent === undefined && !step.isPossible(view.maintenance.status)) {
          throw new ShowInstead({ path: home(at) });
        }
        return view;
      },
      show(state, at) {
        const { maintenance, audience } = state.context;
        if (state.notice !== undefined) {
          // The message can still be published as an update without a new status.
          return detail(at, { ...state, values: UPDATE_FORM.initial(state.values) });
        }
        return {
          title: step.title(maintenance.name),
          button: step.button,
          isDanger: step.isDanger ?? false,
          dialog: <p>{step.text}</p>,
          foot: audience === undefined ? null : <p class="hint">{audience}</p>,
          cancel: step.keep,
        };
      },
      submit(tx, body, actor, { params }, { maintenance: { status } }) {
        if (!step.isPossible(status)) {
          throw conflict(`The status of the maintenance is now “${MAINTENANCE_WORDS[status]}”.`);
        }
        const update = validate(AddMaintenanceUpdateBody, { ...body, status: step.status });
        return addMaintenanceUpdate(ctx, tx, params.id, update, actor).update.id;
      },
      done: (_, at) => ({ path: home(at), text: step.done }),
    });
  }

  for (const name of STEP_NAMES) addStep(name);
}

interface MaintenanceFactsProps {
  view: MaintenanceView;
  editPath: string | undefined;
  /** True if the user may open the form for the schedule that made the maintenance. */
  canOpenSchedule: boolean;
  now: number;
}

/** Properties of a maintenance. */
function MaintenanceFacts(props: MaintenanceFactsProps) {
  const { view, editPath, canOpenSchedule, now } = props;
  const { maintenance, page, schedule } = view;
  const { scheduled_for: from, scheduled_until: until, status } = maintenance;
  const times = { Started: maintenance.started_at, Completed: maintenance.completed_at };
  const facts = [
    ...(schedule === undefined
      ? []
      : [
          {
            label: "Schedule",
            value: canOpenSchedule ? (
              <a href={maintenanceSchedulePath(schedule.id)}>{schedule.name}</a>
            ) : (
              schedule.name
            ),
          },
        ]),
    { label: "Planned time", value: <When from={from} until={until} timeZone={page.timeZone} /> },
    ...timeFacts(times, now),
    ...(isEnded(status)
      ? []
      : [{ label: "Automatic steps", value: describeAutomation(maintenance) }]),
    ...(status === "scheduled"
      ? [{ label: "Reminder", value: describeReminder(maintenance.remind_minutes_before) }]
      : []),
  ];
  return <TimelineFacts facts={facts} id={maintenance.id} editPath={editPath} />;
}

function describeAutomation({ auto_start: starts, auto_complete: completes }: Maintenance): string {
  if (starts && completes) return "Start and completion";
  if (starts) return "Start";
  return completes ? "Completion" : "None";
}

interface WhenProps {
  /** ISO 8601 in UTC. */
  from: string;
  until: string;
  /** Time zone of the page. */
  timeZone: string;
}

/** A period in the time zone of the reader and, below, in that of the page. */
export function When({ from, until, timeZone }: WhenProps) {
  const own = zoneLabel(useZone());
  const pages = zoneLabel(timeZone);
  return (
    <>
      <TimeSpan from={from} until={until} timeZone={own} />
      {pages === own ? null : (
        <div class="cell-note">{zoneSpan(Date.parse(from), Date.parse(until), pages)}</div>
      )}
    </>
  );
}

/** Steps of a maintenance that are taken with a button and a confirmation. */
const STEP_NAMES = ["start", "finish", "cancel"] as const;
type StepName = (typeof STEP_NAMES)[number];

interface Step {
  /** Status after the step. */
  status: MaintenanceStatus;
  /** Returns true if the step is possible in a status. */
  isPossible(status: MaintenanceStatus): boolean;
  /** Label of the button that opens the confirmation. */
  label(maintenance: Maintenance, now: number): string;
  title(name: string): string;
  /** Consequences of the step, shown in the confirmation. */
  text: string;
  /** Default message of the update. */
  body: string;
  button: string;
  /** Label of the button that cancels the confirmation. */
  keep: string;
  isDanger?: boolean;
  done: string;
}

const STEPS: Record<StepName, Step> = {
  start: {
    status: "in_progress",
    isPossible: (status) => status === "scheduled",
    label: () => "Start now",
    title: (name) => `Start “${name}” now`,
    text: "The maintenance starts now, regardless of the planned time. Its components are shown as under maintenance.",
    body: "The maintenance has begun.",
    button: "Start maintenance",
    keep: "Not yet",
    done: "The maintenance has started.",
  },
  finish: {
    status: "completed",
    isPossible: isUnderWay,
    label: ({ scheduled_until: until }, now) =>
      now < Date.parse(until) ? "Complete early" : "Complete now",
    title: (name) => `Complete “${name}” now`,
    text: "The maintenance ends now, and its components are no longer under maintenance. This cannot be undone.",
    body: "The maintenance has been completed.",
    button: "Complete maintenance",
    keep: "Not yet",
    done: "The maintenance is completed.",
  },
  cancel: {
    status: "cancelled",
    isPossible: (status) => status === "scheduled" || isUnderWay(status),
    label: () => "Cancel maintenance",
    title: (name) => `Cancel “${name}”`,
    text: "The maintenance does not take place or ends now. The page shows it as cancelled. This cannot be undone.",
    body: "The maintenance has been cancelled.",
    button: "Cancel maintenance",
    keep: "Keep maintenance",
    isDanger: true,
    done: "The maintenance is cancelled.",
  },
};
