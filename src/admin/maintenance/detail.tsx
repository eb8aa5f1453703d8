import { type Role, roleAllows } from "../../domain/role";
import { isEnded } from "../../features/maintenance";
import { pathsOf } from "../../public/page-paths";
import { MAINTENANCE_WORDS } from "../../public/words";
import { ButtonLink, Card, CodeBlock, Columns, FormNotice, Notice, PageHead } from "../../ui";
import type { StateOf } from "../forms/form";
import { MAINTENANCE_PATH } from "../paths";
import { UpdateForm } from "../timeline/update-form";
import { UpdateTimeline } from "../timeline/update-timeline";
import { MaintenanceFacts } from "./facts";
import { UPDATE_FORM } from "./forms";
import { pathsOfMaintenance } from "./maintenance-paths";
import type { MaintenanceView } from "./maintenance-view";
import { STEP_NAMES, STEPS } from "./steps";

interface MaintenanceDetailProps {
  nextUpdate: StateOf<typeof UPDATE_FORM>;
  role: Role;
  /** Id of the update after which the timeline starts; undefined for the newest part. */
  before: string | undefined;
  /** Unix ms. */
  now: number;
}

/** One maintenance: form for the next update, timeline and properties. */
export function MaintenanceDetail({ nextUpdate, role, before, now }: MaintenanceDetailProps) {
  const view = nextUpdate.context;
  const { maintenance, page, authors } = view;
  const { home } = pathsOfMaintenance(maintenance.id);
  const canChange = roleAllows(role, "editor") && !isEnded(maintenance.status);
  return (
    <>
      <PageHead
        title={maintenance.name}
        crumbs={[{ href: MAINTENANCE_PATH, label: "Maintenance" }]}
        actions={
          <>
            <ButtonLink href={pathsOf(page.slug).maintenance(maintenance.id)} opensTab>
              View page
            </ButtonLink>
            {canChange ? <Steps view={view} now={now} /> : null}
          </>
        }
      />
      <Columns aside={<MaintenanceFacts view={view} now={now} />}>
        {canChange ? (
          <Card title="Next update">
            <UpdateForm form={UPDATE_FORM} state={nextUpdate} action={home} />
          </Card>
        ) : (
          <RejectedUpdate state={nextUpdate} />
        )}
        <UpdateTimeline
          updates={maintenance.updates}
          words={MAINTENANCE_WORDS}
          doneStatus="completed"
          authors={authors}
          home={home}
          before={before}
          now={now}
        />
      </Columns>
    </>
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

function Steps({ view: { maintenance }, now }: { view: MaintenanceView; now: number }) {
  const paths = pathsOfMaintenance(maintenance.id);
  return (
    <>
      <ButtonLink href={paths.edit}>Edit</ButtonLink>
      {STEP_NAMES.filter((name) => STEPS[name].isPossible(maintenance.status)).map((name) => (
        <ButtonLink
          key={name}
          href={paths.step(name)}
          kind={STEPS[name].isDanger ? "danger" : "quiet"}
          dialog
        >
          {STEPS[name].label(maintenance, now)}
        </ButtonLink>
      ))}
    </>
  );
}
