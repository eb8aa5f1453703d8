import { isEnded } from "../../features/maintenance";
import { pathsOf } from "../../public/page-paths";
import { ButtonLink, CodeBlock, Columns, Notice, PageHead, FormNotice, Section } from "../../ui";
import { NO_COMPLAINTS } from "../field-errors";
import { MAINTENANCE_PATH } from "../paths";
import { OtherParts, timelinePart } from "../timeline-part";
import { MaintenanceFacts } from "./facts";
import { pathsOfMaintenance } from "./maintenance-paths";
import type { MaintenanceView } from "./maintenance-view";
import type { UpdateRejection } from "./next-update";
import { STEP_NAMES, STEPS } from "./steps";
import { UpdateTimeline } from "./update-timeline";
import { EMPTY_UPDATE, UpdateForm, type UpdateValues } from "./update-form";

interface MaintenanceDetailProps {
  view: MaintenanceView;
  /** True if the user may change the maintenance. */
  mayWrite: boolean;
  /** Rejected update with its errors. */
  refused?: (Omit<UpdateRejection, "status"> & { values: UpdateValues }) | undefined;
  formToken: string;
  /** Id of the update after which the timeline starts; undefined for the newest part. */
  before?: string | undefined;
  /** Unix ms. */
  now: number;
}

/** One maintenance: form for the next update, properties and timeline. */
export function MaintenanceDetail(props: MaintenanceDetailProps) {
  const { view, mayWrite, refused, formToken, before, now } = props;
  const { maintenance, page, authors } = view;
  const part = timelinePart(maintenance.updates, before);
  const mayChange = mayWrite && !isEnded(maintenance.status);
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
            {mayChange ? <Steps view={view} now={now} /> : null}
          </>
        }
      />
      {refused?.rejection === undefined ? null : (
        <FormNotice>{refused.rejection} Nothing was published.</FormNotice>
      )}
      <Columns aside={<MaintenanceFacts view={view} now={now} />}>
        {mayChange ? (
          <UpdateForm
            maintenance={maintenance}
            timeZone={page.timeZone}
            values={refused?.values ?? EMPTY_UPDATE}
            complaints={refused?.complaints ?? NO_COMPLAINTS}
            formToken={formToken}
          />
        ) : refused ? (
          <Notice tone="info" title="What you wrote">
            <CodeBlock text={refused.values.body} copyLabel="Copy text" />
          </Notice>
        ) : null}
        <Section title="Timeline">
          <UpdateTimeline
            maintenance={{ ...maintenance, updates: part.shown }}
            authors={authors}
            now={now}
          />
          <OtherParts home={pathsOfMaintenance(maintenance.id).home} part={part} />
        </Section>
      </Columns>
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
