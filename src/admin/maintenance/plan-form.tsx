import type { PageRow } from "../../features/pages";
import { Actions, Button, ButtonLink, Fold, Form, ErrorSummary, PageHead } from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { MessageField } from "../message-field";
import { NameField } from "../name-field";
import { NotifyField } from "../notify-field";
import { PageChoice } from "../page-choice";
import { MAINTENANCE_PATH } from "../paths";
import { type Choosable, ComponentChoice } from "./component-choice";
import { PLAN_PATH, PREVIEW_PLAN_PATH } from "./maintenance-paths";
import { EMPTY_PLAN, PLAN_LABELS, type PlanValues } from "./plan";
import { Beginning, ClockFields, Length } from "./schedule-fields";

interface PlanFormProps {
  pages: readonly PageRow[];
  /** Page of the maintenance. */
  page: PageRow;
  choosable: Choosable;
  values: PlanValues;
  complaints: Complaints;
  /** Identifies this rendering of the form, so that submitting it twice creates one maintenance. */
  formToken: string;
}

/** Fields inside the fold. */
const FOLDED = ["auto_start", "auto_complete", "remind_minutes_before", "notify"] as const;

/** "Plan maintenance": name, components, times and message. */
export function PlanForm(props: PlanFormProps) {
  const { pages, page, choosable, values, complaints, formToken } = props;
  const wrong = wording(complaints, PLAN_LABELS);
  const { timeZone } = page;
  return (
    <>
      <PageHead
        title="Plan maintenance"
        crumbs={[{ href: MAINTENANCE_PATH, label: "Maintenance" }]}
      />
      <Form action={PLAN_PATH} hidden={{ form: formToken }} enter={{}}>
        <ErrorSummary errors={wrong.all} />
        <PageChoice pages={pages} page={page} error={wrong.about("page")} />
        <NameField
          value={values.name}
          hint="What is planned, in a few words: “Database upgrade”."
          wrong={wrong}
        />
        <ComponentChoice
          {...choosable}
          legend={PLAN_LABELS.components}
          chosen={values.components}
          error={wrong.about("components")}
        />
        <Beginning
          {...{ values, wrong, timeZone }}
          hint="A time in the past is for what is written down afterwards."
        />
        <Length {...{ values, wrong, timeZone }} />
        <MessageField
          label={PLAN_LABELS.body}
          value={values.body}
          hint="What is done, and what people will notice. Markdown."
          wrong={wrong}
        />
        <Fold title="More" isOpen={isOpen(values, complaints)}>
          <ClockFields {...{ values, wrong }} />
          <NotifyField
            isChecked={values.isNotifying}
            error={wrong.about("notify")}
            also=", also not at the start and end"
          />
        </Fold>
        <Actions>
          <Button kind="primary">Plan maintenance</Button>
          <Button previewAction={PREVIEW_PLAN_PATH}>Preview</Button>
          <ButtonLink href={MAINTENANCE_PATH}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

/** Returns true if a field inside the fold has an error or differs from its default. */
function isOpen(values: PlanValues, complaints: Complaints): boolean {
  const isUsual =
    values.isAutoStart &&
    values.isAutoComplete &&
    values.isNotifying &&
    values.remind === EMPTY_PLAN.remind;
  return !isUsual || FOLDED.some((field) => field in complaints);
}
