import type { ComponentRow, GroupRow } from "../../features/components";
import type { PageRow } from "../../features/pages";
import { IMPACTS, INCIDENT_STATUSES } from "../../domain/incident-status";
import { IMPACT_WORDS, INCIDENT_WORDS } from "../../public/words";
import {
  Actions,
  Button,
  ButtonLink,
  ChoiceField,
  Fold,
  Form,
  ErrorSummary,
  DateTimeField,
  PageHead,
  SelectField,
  TextField,
} from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { MessageField } from "../message-field";
import { NameField } from "../name-field";
import { NotifyField } from "../notify-field";
import { PageChoice } from "../page-choice";
import { componentsOfPagePath, INCIDENTS_PATH } from "../paths";
import { ComponentImpacts } from "./component-impacts";
import { FOLDED, REPORT_LABELS, type ReportValues } from "./report";
import { TemplateButtons } from "./template-buttons";
import { REPORT_TEMPLATES } from "./templates";

export const REPORT_PATH = `${INCIDENTS_PATH}/new`;

export interface ReportFormProps {
  pages: readonly PageRow[];
  /** Page of the incident. */
  page: PageRow;
  components: readonly ComponentRow[];
  groups: readonly GroupRow[];
  values: ReportValues;
  complaints: Complaints;
  /** Identifies this rendering of the form, so that submitting it twice creates one incident. */
  formToken: string;
}

/** "Report an incident": name, components and message, then rarely needed fields in a fold. */
export function ReportForm(props: ReportFormProps) {
  const { pages, page, values, formToken } = props;
  const wrong = wording(props.complaints, REPORT_LABELS);
  return (
    <>
      <PageHead
        title="Report an incident"
        crumbs={[{ href: INCIDENTS_PATH, label: "Incidents" }]}
      />
      <Form
        action={REPORT_PATH}
        hidden={{ form: formToken }}
        enter={{ name: "intent", value: "publish" }}
      >
        <ErrorSummary errors={wrong.all} />
        <PageChoice pages={pages} page={page} error={wrong.about("page")} />
        <NameField
          value={values.name}
          hint="What is happening, in a few words: “Checkout fails for some cards”."
          wrong={wrong}
        />
        {props.components.length > 0 ? (
          <ComponentImpacts
            components={props.components}
            groups={props.groups}
            chosen={values.impacts}
            error={wrong.about("components")}
          />
        ) : (
          <NoComponents page={page} />
        )}
        <TemplateButtons templates={REPORT_TEMPLATES} action={REPORT_PATH} body={values.body} />
        <MessageField
          label={REPORT_LABELS.body}
          value={values.body}
          hint="Markdown. What you know now is enough; the next update can say more."
          wrong={wrong}
        />
        <ChoiceField
          legend={REPORT_LABELS.status}
          name="status"
          options={INCIDENT_STATUSES.map((value) => ({ value, label: INCIDENT_WORDS[value] }))}
          value={values.status}
          error={wrong.about("status")}
        />
        <More {...props} />
        <Actions>
          <Button kind="primary" name="intent" value="publish">
            Publish incident
          </Button>
          <Button name="intent" value="draft">
            Save as draft
          </Button>
          <Button previewAction={`${REPORT_PATH}/preview`}>Preview</Button>
          <ButtonLink href={INCIDENTS_PATH}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

function NoComponents({ page }: Pick<ReportFormProps, "page">) {
  return (
    <p class="muted">
      <a href={componentsOfPagePath(page.slug)}>{page.name} has no components yet</a>, so the
      incident changes no component status.
    </p>
  );
}

/** Rarely needed fields, in a fold. */
function More({ page, values, complaints }: ReportFormProps) {
  const wrong = wording(complaints, REPORT_LABELS);
  const { impactOverride, startedAt, resolvedAt, externalRef, isNotifying } = values;
  const isSaid = [impactOverride, startedAt, resolvedAt, externalRef].some((text) => text !== "");
  const isWrong = FOLDED.some((field) => wrong.about(field) !== undefined);
  return (
    <Fold title="More" isOpen={isSaid || isWrong || !isNotifying}>
      <SelectField
        label={REPORT_LABELS.impact_override}
        name="impact_override"
        hint="Impact of the incident as a whole."
        options={[
          { value: "", label: "Worst of the components" },
          ...IMPACTS.map((value) => ({ value, label: IMPACT_WORDS[value] })),
        ]}
        value={impactOverride}
        error={wrong.about("impact_override")}
      />
      <DateTimeField
        label={REPORT_LABELS.started_at}
        name="started_at"
        value={startedAt}
        hint="Empty means now. The component statuses apply from then on."
        timeZone={page.timeZone}
        error={wrong.about("started_at")}
      />
      <DateTimeField
        label={REPORT_LABELS.resolved_at}
        name="resolved_at"
        value={resolvedAt}
        hint="For an incident that is over and is written down afterwards, with the status “Resolved”."
        timeZone={page.timeZone}
        error={wrong.about("resolved_at")}
      />
      <NotifyField isChecked={isNotifying} />
      <TextField
        label={REPORT_LABELS.external_ref}
        name="external_ref"
        value={externalRef}
        hint="Id of this incident in another system. Unique on the page."
        error={wrong.about("external_ref")}
        maxlength={255}
        autocomplete="off"
      />
    </Fold>
  );
}
