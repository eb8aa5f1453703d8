import type { Maintenance } from "../../features/maintenance";
import type { PageRow } from "../../features/pages";
import { Actions, Button, ButtonLink, Form, ErrorSummary, PageHead, FormNotice } from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { NameField } from "../name-field";
import { MAINTENANCE_PATH } from "../paths";
import { versionField } from "../stale";
import { type Choosable, ComponentChoice } from "./component-choice";
import type { EditValues } from "./edit";
import { pathsOfMaintenance } from "./maintenance-paths";
import { PLAN_LABELS } from "./plan";
import { Beginning, ClockFields, End } from "./schedule-fields";

interface EditFormProps {
  maintenance: Maintenance;
  page: PageRow;
  choosable: Choosable;
  values: EditValues;
  complaints: Complaints;
  /** Message of a stale form; undefined for a current one. */
  stale: string | undefined;
}

/** Edit form of a maintenance. Times and flags can be changed only while it is scheduled. */
export function EditForm(props: EditFormProps) {
  const { maintenance, page, choosable, values, stale } = props;
  const wrong = wording(props.complaints, PLAN_LABELS);
  const paths = pathsOfMaintenance(maintenance.id);
  const { timeZone } = page;
  return (
    <>
      <PageHead
        title="Edit maintenance"
        crumbs={[
          { href: MAINTENANCE_PATH, label: "Maintenance" },
          { href: paths.home, label: maintenance.name },
        ]}
      />
      <Form action={paths.edit} hidden={versionField(maintenance)}>
        {stale === undefined ? null : <FormNotice>{stale}</FormNotice>}
        <ErrorSummary errors={wrong.all} />
        <NameField value={values.name} wrong={wrong} />
        <ComponentChoice
          {...choosable}
          legend={PLAN_LABELS.components}
          chosen={values.components}
          error={wrong.about("components")}
        />
        {maintenance.status === "scheduled" ? (
          <>
            <Beginning {...{ values, wrong, timeZone }} />
            <End {...{ values, wrong, timeZone }} />
            <ClockFields {...{ values, wrong }} />
          </>
        ) : (
          <p class="muted">
            The maintenance has started, so planned times and automatic steps can no longer be
            changed.
          </p>
        )}
        <Actions>
          <Button kind="primary">Save changes</Button>
          <ButtonLink href={paths.home}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}
