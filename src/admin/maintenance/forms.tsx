import { MAINTENANCE_STATUSES, type MaintenanceStatus } from "../../base/status";
import type {
  AddMaintenanceUpdateBody,
  PlanMaintenanceBody,
  UpdateMaintenanceBody,
} from "../../features/maintenance/model";
import { isAllowedTransition, isEnded } from "../../features/maintenance/rules";
import { MAINTENANCE_WORDS } from "../../public/words";
import { ChoiceField } from "../../ui/choices";
import { Fold } from "../../ui/blocks";
import {
  dateTimeField,
  messageField,
  nameField,
  notifyField,
  type TimeZoneContext,
} from "../../ui/forms/fields";
import { componentsField, type PageComponents, rowsByGroup } from "../../ui/forms/object-fields";
import { defineForm, type Field, optional } from "../../ui/forms/form";
import { type PageContext, pageField } from "../../ui/forms/page-field";
import type { MaintenanceView } from "./maintenance-view";
import {
  autoCompleteField,
  autoStartField,
  durationField,
  endField,
  reminderField,
  startField,
  whileScheduled,
} from "./schedule-fields";

/** Field for the components that are under maintenance. */
export const affectedField = componentsField<
  PageComponents & Partial<Pick<MaintenanceView, "missingComponents">>
>({
  hint: "Their status is “Under maintenance” from start to end.",
  unknown: "Select components of the page.",
  partsOf({ missingComponents = [], ...page }) {
    const { parts } = rowsByGroup(page, (component) => component);
    return missingComponents.length === 0
      ? parts
      : [...parts, { key: "gone", title: "No longer on the page", rows: missingComponents }];
  },
});

/** Form for a new maintenance. */
export const PLAN_FORM = defineForm<PlanMaintenanceBody, PageContext & PageComponents>()(
  {
    page: pageField(),
    name: nameField({ hint: "A short summary, such as “Database upgrade”." }),
    components: affectedField,
    scheduled_for: startField("Can be in the past, to record maintenance afterwards."),
    scheduled_until: durationField,
    body: messageField({
      label: "Message",
      hint: "What is planned and what users will notice. Markdown.",
    }),
    auto_start: autoStartField,
    auto_complete: autoCompleteField,
    remind_minutes_before: reminderField,
    notify: notifyField(", also not at the start and end"),
  },
  { advanced: ["auto_start", "auto_complete", "remind_minutes_before", "notify"] },
);

/** Field for the end, which can also be moved after the start. Typed is null for a form without it. */
const movableEndField: Field<string | null, string, MaintenanceView> = {
  ...whileScheduled(endField),
  read: (sent, name) => (sent.all(name).length > 0 ? endField.read(sent, name) : null),
  Input: (props) =>
    isEnded(props.context.maintenance.status)
      ? null
      : endField.Input({ ...props, value: props.value ?? endField.initial }),
};

/** Form that edits a maintenance. */
export const MAINTENANCE_FORM = defineForm<UpdateMaintenanceBody, MaintenanceView>()({
  name: nameField(),
  components: affectedField,
  scheduled_for: whileScheduled(startField()),
  scheduled_until: movableEndField,
  auto_start: whileScheduled(autoStartField),
  auto_complete: whileScheduled(autoCompleteField),
  remind_minutes_before: whileScheduled(reminderField),
});

/**
 * Field for the next status. Empty keeps the current status, even if it changed after the form was
 * rendered. Cancelling has a form of its own.
 */
const statusField: Field<string, MaintenanceStatus, MaintenanceView> = {
  label: "Status",
  initial: "",
  read: (sent, name) => sent.text(name),
  toBody: (typed) => (typed === "" ? undefined : (typed as MaintenanceStatus)),
  fromStored: (status) => status,
  Input({ name, value, errors, context }) {
    const { status } = context.maintenance;
    const next = MAINTENANCE_STATUSES.filter(
      (other) => other !== "cancelled" && isAllowedTransition(status, other),
    );
    return (
      <ChoiceField
        legend="Status"
        name={name}
        options={[
          { value: "", label: MAINTENANCE_WORDS[status] },
          ...next.map((other) => ({ value: other, label: MAINTENANCE_WORDS[other] })),
        ]}
        value={value}
        error={errors[name]}
      />
    );
  },
};

const displayAtField: Field<string, string, TimeZoneContext> = optional(
  dateTimeField({
    label: "Took effect at (UTC)",
    hint: "Empty means now. Must not be before the previous update.",
  }),
);

/** Form for the next update of a maintenance. */
export const UPDATE_FORM = defineForm<AddMaintenanceUpdateBody, MaintenanceView>()({
  status: statusField,
  body: messageField({ label: "Message", hint: "What visitors should know now. Markdown." }),
  display_at: {
    ...displayAtField,
    Input: (props) => (
      <Fold
        title="Backdate the update"
        isOpen={props.value !== "" || props.errors[props.name] !== undefined}
      >
        {displayAtField.Input(props)}
      </Fold>
    ),
  },
  notify: notifyField(),
});

/** Fields of that form without `notify`, which is in the foot of the form. */
export const UPDATE_FIELDS = UPDATE_FORM.pick("status", "body", "display_at");

/** Form for the message of a step. */
export const STEP_FORM = UPDATE_FORM.pick("body", "notify");
