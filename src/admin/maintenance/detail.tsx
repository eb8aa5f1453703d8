import type { MaintenanceStatus } from "../../base/status";
import { type Role, roleAllows } from "../../base/actor";
import { isEnded, isUnderWay } from "../../features/maintenance/rules";
import { pathsOf } from "../../public/page-context";
import { MAINTENANCE_TONES, MaintenanceState } from "../../public/state";
import { lasting, MAINTENANCE_WORDS } from "../../public/words";
import { ButtonLink } from "../../ui/buttons";
import { CodeBlock, Columns, FormNotice, Notice, Phases } from "../../ui/blocks";
import { HeadFact, HeadFacts, MoreMenu } from "../../ui/detail";
import { Icon } from "../../ui/icons";
import { PageHead } from "../../ui/navigation";
import { zoneSpan } from "../../ui/times";
import type { StateOf } from "../../ui/forms/form";
import { MAINTENANCE_PATH, pagePath } from "../../ui/frame/paths";
import { Affected, UpdateForm, UpdateTimeline } from "../../features/timeline/screens/updates";
import { Notified, notifyLabel } from "../../features/timeline/screens/mail";
import { MaintenanceFacts } from "./facts";
import { UPDATE_FIELDS, type UPDATE_FORM } from "./forms";
import { pathsOfMaintenance } from "./maintenance-paths";
import type { MaintenanceView } from "./maintenance-view";
import { STEP_NAMES, STEPS } from "./steps";

/** Statuses of a maintenance that is not cancelled, in order. */
const PHASES = ["scheduled", "in_progress", "verifying", "completed"] as const;

/** Effect of a maintenance on its components, by status. */
const NOTES: Readonly<Record<MaintenanceStatus, string>> = {
  scheduled: "Under maintenance once it starts",
  in_progress: "Under maintenance",
  verifying: "Under maintenance",
  completed: "Under maintenance, ended",
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
export function MaintenanceDetail({ nextUpdate, role, before, now }: MaintenanceDetailProps) {
  const view = nextUpdate.context;
  const { maintenance, authors, notified } = view;
  const { home, edit } = pathsOfMaintenance(maintenance.id);
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
              editPath={canChange ? edit : undefined}
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
              action={home}
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
          toneOf={() => MAINTENANCE_TONES[maintenance.status]}
          components={view.components}
          authors={authors}
          home={home}
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
  return (
    <HeadFacts>
      <MaintenanceState maintenance={maintenance} />
      <HeadFact icon="clock">
        {lasting(from, until)}, {zoneSpan(Date.parse(from), Date.parse(until), "UTC")}
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
      tone={MAINTENANCE_TONES[status]}
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
      components={components.map(({ id, name }) => ({
        id,
        name,
        tone: isUnderWay(status) ? "maint" : "none",
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
  const paths = pathsOfMaintenance(maintenance.id);
  const steps = STEP_NAMES.filter((name) => STEPS[name].isPossible(maintenance.status));
  const links = (isDanger: boolean) =>
    steps
      .filter((name) => (STEPS[name].isDanger ?? false) === isDanger)
      .map((name) => (
        <ButtonLink key={name} href={paths.step(name)} kind={isDanger ? "danger" : "quiet"} dialog>
          {STEPS[name].label(maintenance, now)}
        </ButtonLink>
      ));
  return (
    <>
      <ButtonLink href={pathsOf(page.slug).maintenance(maintenance.id)} opensTab>
        <Icon name="external-link" />
        View on page
      </ButtonLink>
      {canChange ? (
        <>
          <ButtonLink href={paths.edit}>
            <Icon name="pencil" />
            Edit
          </ButtonLink>
          {links(false)}
          <MoreMenu label="More actions">{links(true)}</MoreMenu>
        </>
      ) : null}
    </>
  );
}
