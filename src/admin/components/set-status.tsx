import type { ComponentRow } from "../../features/components";
import type { PageRow } from "../../features/pages";
import { COMPONENT_STATUSES } from "../../domain/component-status";
import { DialogForm, ErrorSummary, RadioList, STATUS_WORDS, StatusLabel, TextArea } from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { componentPath } from "../paths";
import { placeInList } from "./component-paths";
import { type NamedCause, otherCauses, CauseList } from "./cause-list";

const LABELS = { status: "Status", reason: "Reason" };

/** Form for the manual status of a component, with the other causes of its status. */
export function SetStatusForm(props: {
  title: string;
  component: ComponentRow;
  page: PageRow;
  causes: readonly NamedCause[];
  values: { status: string; reason: string };
  complaints: Complaints;
}) {
  const { title, component, page, values } = props;
  const wrong = wording(props.complaints, LABELS);
  return (
    <DialogForm
      title={title}
      action={`${componentPath(component.id)}/status`}
      button="Set status"
      cancelHref={placeInList(page.slug, component.id)}
    >
      <ErrorSummary errors={wrong.all} />
      <OtherCauses causes={otherCauses(props.causes)} />
      <RadioList
        legend={LABELS.status}
        name="status"
        options={COMPONENT_STATUSES.map((status) => ({
          value: status,
          label: STATUS_WORDS[status],
        }))}
        value={values.status}
        error={wrong.about("status")}
      />
      <TextArea
        label={LABELS.reason}
        name="reason"
        value={values.reason}
        hint="Optional. Kept in the component's history; the page does not show it."
        error={wrong.about("reason")}
        rows={2}
        maxlength={1_000}
      />
    </DialogForm>
  );
}

function OtherCauses({ causes }: { causes: readonly NamedCause[] }) {
  if (causes.length === 0) {
    return <p>This status is shown unless an incident, maintenance or monitor sets a worse one.</p>;
  }
  return (
    <div>
      <p>The component shows the worst of this status and of these causes:</p>
      <ul class="plain-list">
        {causes.map((each) => (
          <li key={each.cause.id}>
            <StatusLabel status={each.cause.status} /> <CauseList causes={[each]} />
          </li>
        ))}
      </ul>
    </div>
  );
}
