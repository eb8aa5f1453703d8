import { conflict } from "../../../base/errors";
import {
  type Impact,
  IMPACTS,
  INCIDENT_STATUSES,
  NAMED_STATUSES,
  type NamedStatus,
} from "../../../base/status";
import { validate } from "../../../base/validation";
import type { Form as SentForm } from "../../../http/form-body";
import { IMPACT_WORDS, INCIDENT_WORDS } from "../../../public/state";
import { STATUS_WORDS, StatusLabel } from "../../../ui/blocks";
import { Button } from "../../../ui/buttons";
import { SelectRows } from "../../../ui/choices";
import { dateTimeField, type TimeZoneContext } from "../../../ui/forms/date-time";
import {
  buttonField,
  choiceField,
  messageField,
  nameField,
  notifyField,
  selectField,
  textAreaField,
  textField,
} from "../../../ui/forms/fields";
import {
  defineForm,
  type Field,
  InvalidInput,
  nullable,
  optional,
  type StateOf,
} from "../../../ui/forms/form";
import { type PageComponents, rowsByGroup } from "../../../ui/forms/object-fields";
import { type PageContext, pageField } from "../../../ui/forms/page-field";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { componentsOfPagePath, incidentPath, REPORT_PATH } from "../../../ui/frame/paths";
import type { Area } from "../../../ui/screens/area";
import { DayTime, lasting } from "../../../ui/times";
import {
  fromBuiltIn,
  inputOf,
  type OfferedTemplates,
  TemplateMenu,
  templateMessageField,
  UPDATE_TEMPLATES,
} from "../../incident-templates/screens/offered";
import type { PageRow } from "../../pages/store";
import { AudienceHint, notifyLabel } from "../../timeline/screens/mail";
import { TimelineFacts, UpdateForm } from "../../timeline/screens/updates";
import { editUpdate, updateIncident } from "../incidents";
import { getUpdate } from "../records";
import {
  type AddUpdateBody,
  type CreateIncidentBody,
  EditUpdateBody,
  type Incident,
  presentUpdate,
  UpdateIncidentBody,
} from "../wire";
import { incidentCrumbs, type IncidentForm, type IncidentView, readIncidentForm } from "./view";

const [FIRST_STATUS] = INCIDENT_STATUSES;

const statusField = choiceField({
  label: "Status",
  initial: FIRST_STATUS,
  options: INCIDENT_STATUSES.map((value) => ({ value, label: INCIDENT_WORDS[value] })),
});

/** Field for the impact of an incident; empty for that of its components. */
export const impactField = selectField<Impact>({
  label: "Impact",
  hint: "Impact of the incident as a whole.",
  empty: "From the component statuses",
  options: IMPACTS.map((value) => ({ value, label: IMPACT_WORDS[value] })),
});

const externalRefField = textField({
  label: "External reference",
  hint: "ID of this incident in another system. Must be unique on the page.",
  maxlength: 255,
});

/** Screen data of the form for a new incident. */
interface ReportContext extends PageContext, PageComponents {
  templates: OfferedTemplates;
}

/** Form for a new incident. */
export const REPORT_FORM = defineForm<CreateIncidentBody, ReportContext>()(
  {
    page: pageField(),
    name: nameField({
      hint: "A short summary, such as “Checkout fails for some cards”.",
    }),
    components: affectedComponentsField(),
    body: templateMessageField({
      label: "First message",
      hint: "What is known so far. Markdown.",
      templates: ({ templates }) => templates,
      action: () => REPORT_PATH,
    }),
    status: {
      ...statusField,
      read: (sent: SentForm, name: string) => sent.text(name) || FIRST_STATUS,
    },
    impact_override: optional(impactField),
    started_at: optional(
      dateTimeField({
        label: "Started at",
        hint: "Empty means now. The component statuses apply from this time.",
      }),
    ),
    resolved_at: optional(
      dateTimeField({
        label: "Resolved at",
        hint: "For a past incident, with the status “Resolved”.",
      }),
    ),
    notify: notifyField(),
    external_ref: optional(externalRefField),
    draft: { ...buttonField({ draft: true }), read: (sent: SentForm) => sent.text("intent") },
  },
  { advanced: ["impact_override", "started_at", "resolved_at", "notify", "external_ref"] },
);

/** Form for the next update of an incident. */
export const UPDATE_FORM = defineForm<AddUpdateBody, IncidentForm>()({
  status: statusField,
  body: messageField({ label: "Message", hint: "What visitors should know now. Markdown." }),
  components: changedComponentsField(),
  notify: notifyField(),
});

/** Fields of that form without `notify`, which is in the foot of the form. */
const UPDATE_FIELDS = UPDATE_FORM.pick("status", "body", "components");

const startedAtField = dateTimeField({
  label: "Started at",
  hint: "The component statuses apply from this time. A change also changes past uptime.",
  isRequired: true,
});

const resolvedAtField = dateTimeField({ label: "Resolved at" });

/** Labels of the times that an error about the start may name. */
const TIME_LABELS: Readonly<Record<string, string>> = {
  identified_at: "“Identified at”",
  monitoring_at: "“Monitoring since”",
  resolved_at: "“Resolved at”",
  display_at: "time",
};

const TIME_NAME = /\b(?:identified|monitoring|resolved|display)_at\b/;

/** Form that edits an incident. */
const INCIDENT_FORM = defineForm<UpdateIncidentBody, IncidentForm>()({
  name: nameField(),
  impact_override: nullable(impactField),
  started_at: {
    ...startedAtField,
    showError(error, typed) {
      const { detail } = startedAtField.showError(error, typed);
      return { detail: detail.replace(TIME_NAME, (name) => TIME_LABELS[name] ?? name) };
    },
  },
  identified_at: nullable(
    dateTimeField({
      label: "Identified at",
      hint: "Empty if the incident never had this status.",
    }),
  ),
  monitoring_at: nullable(
    dateTimeField({
      label: "Monitoring since",
      hint: "Empty if the incident never had this status.",
    }),
  ),
  // Shown only while the incident is resolved. A time that was typed before it was reopened counts
  // as a change, so that an outdated form is a conflict.
  resolved_at: {
    ...resolvedAtField,
    toBody: (typed, context) =>
      typed.trim() === "" && !isResolved(context)
        ? undefined
        : resolvedAtField.toBody(typed, context),
    fromStored: (iso: string | null) => (iso === null ? "" : resolvedAtField.fromStored(iso)),
    Input: (props) => (isResolved(props.context) ? resolvedAtField.Input(props) : null),
  },
  external_ref: nullable(externalRefField),
});

function isResolved({ incident }: IncidentForm): boolean {
  return incident.status === "resolved";
}

/** Form that edits an update. */
const EDIT_UPDATE_FORM = defineForm<EditUpdateBody, TimeZoneContext>()({
  body: messageField({ label: "Message", hint: "Markdown.", rows: 6 }),
  display_at: dateTimeField({
    label: "Took effect at",
    hint: "The component statuses of this update apply from this time. A change also changes past uptime.",
    isRequired: true,
  }),
});

/** Outline of a new post-mortem. */
export const OUTLINE = `## What happened

## What was affected

## Why it happened

## What we do so that it does not happen again
`;

const postmortemNotifyField = notifyField();

/** Form that edits a post-mortem. Its buttons publish and withdraw it. */
export const POSTMORTEM_FORM = defineForm<
  { body: string; publish?: boolean; notify?: boolean },
  IncidentForm
>()({
  body: {
    ...textAreaField({
      label: "Post-mortem",
      hint: "Markdown, up to 50,000 characters.",
      isLong: true,
      isRequired: true,
    }),
    toBody: (typed) => (typed.trim() === "" ? new InvalidInput("is empty") : typed),
  },
  publish: {
    ...buttonField({ publish: true, withdraw: false }),
    read: (sent: SentForm) => sent.text("do"),
  },
  // Only publishing notifies.
  notify: {
    ...postmortemNotifyField,
    toBody: (typed, { incident }) => (incident.postmortem?.published_at ? undefined : typed),
    Input: (props) =>
      props.context.incident.postmortem?.published_at ? null : postmortemNotifyField.Input(props),
  },
});

type UpdateState = StateOf<typeof UPDATE_FORM>;

/** Returns true for a published incident that needs no further update. */
export function isOver({ status, draft }: Incident): boolean {
  return status === "resolved" && !draft;
}

interface NextUpdateProps {
  state: UpdateState;
  view: IncidentView;
  /** True if the form is shown for a resolved incident too. */
  isWriting: boolean;
}

/** Form for the next update. A resolved incident has it only when it is asked for. */
export function NextUpdate({ state, view, isWriting }: NextUpdateProps) {
  const { incident, offersBuiltIn, notified, audience } = view;
  const isDone = isOver(incident);
  // An empty block, so that the refresh of an open screen takes the form away.
  if (isDone && !isWriting) return <section class="card slot" id="next-update" data-live="" />;
  const action = incidentPath(incident.id, "updates");
  const templates = UPDATE_TEMPLATES.filter(
    ({ status }) => offersBuiltIn && status !== incident.status,
  ).map(fromBuiltIn);
  return (
    <section class="card" id="next-update" data-live="">
      <UpdateForm
        title={isDone ? "New update" : "Next update"}
        menu={<TemplateMenu templates={templates} action={action} message={state.values.body} />}
        fields={UPDATE_FIELDS}
        // The submitted form says which status its author saw, so that it cannot revert a newer one.
        state={{ ...state, hidden: { ...state.hidden, seen_status: incident.status } }}
        action={action}
        audience={audience && <AudienceHint audience={audience} />}
        notifyLabel={notifyLabel(notified) + (incident.draft ? " when published" : "")}
      >
        {incident.draft ? <Button>Add to draft</Button> : undefined}
      </UpdateForm>
    </section>
  );
}

/** Returns the selected status of a component by id; empty for one that is not affected. */
type SelectedStatuses = (componentId: string) => string;

interface ComponentContext extends PageComponents {
  page: Pick<PageRow, "name" | "slug">;
}

type ComponentStatusesField<Context> = Field<
  SelectedStatuses,
  Record<string, NamedStatus>,
  Context
>;

/**
 * Field for the statuses of affected components, with a menu for each component of the page. Other
 * components are ignored; the service validates the statuses.
 */
export function componentStatusesField(options: {
  /** Label of the option that leaves a component unchanged. */
  unchanged: string;
  hint?: string;
}): ComponentStatusesField<PageComponents> {
  const { unchanged, hint } = options;
  return {
    label: "Components",
    initial: () => "",
    read: (sent) => (id) => sent.text(inputOf(id)),
    toBody: (selected, { components }) =>
      Object.fromEntries(
        components
          .map(({ id }) => [id, selected(id) as NamedStatus | ""] as const)
          .filter((pair): pair is [string, NamedStatus] => pair[1] !== ""),
      ),
    fromStored: (statuses) => (id) => statuses[id] ?? "",
    Input: ({ name, value: selected, errors, context }) => (
      <SelectRows
        legend="Components"
        name={name}
        hint={hint}
        error={errors[name]}
        options={optionsWith(unchanged)}
        {...rowsByGroup(context, rowOf(selected))}
      />
    ),
  };
}

function optionsWith(unchanged: string) {
  return [
    { value: "", label: unchanged },
    ...NAMED_STATUSES.map((status) => ({ value: status, label: STATUS_WORDS[status] })),
  ];
}

/** Returns a function that makes the row of a component, with its current status as note. */
const rowOf =
  (selected: SelectedStatuses) =>
  ({ id, name, status }: PageComponents["components"][number]) => ({
    name: inputOf(id),
    label: name,
    note:
      status === "operational" ? undefined : (
        <span class="row-was">
          Now <StatusLabel status={status} />
        </span>
      ),
    value: selected(id),
  });

/** Field for the components that a new incident affects. */
function affectedComponentsField(): ComponentStatusesField<ComponentContext> {
  const field = componentStatusesField({ unchanged: "Not affected" });
  return {
    ...field,
    Input(props) {
      const { components, page } = props.context;
      if (components.length > 0) return field.Input(props);
      return (
        <p class="muted">
          <a href={componentsOfPagePath(page.slug)}>{page.name} has no components yet</a>, so the
          incident changes no component status.
        </p>
      );
    },
  };
}

/**
 * Field for the components whose statuses an update changes: those of the incident, and the others in
 * a fold.
 */
function changedComponentsField(): ComponentStatusesField<
  PageComponents & { incident: Pick<Incident, "components" | "status"> }
> {
  const unchanged = "No change";
  const field = componentStatusesField({ unchanged });
  return {
    ...field,
    Input({ name, value: selected, errors, context }) {
      const { incident, components, groups } = context;
      if (components.length === 0) return null;
      const named = new Set(incident.components.map(({ id }) => id));
      const toRow = rowOf(selected);
      const own = components.filter(({ id }) => named.has(id));
      const others = rowsByGroup(
        { components: components.filter(({ id }) => !named.has(id)), groups },
        toRow,
      );
      return (
        <SelectRows
          legend="Components"
          name={name}
          hint={
            own.length > 0 && incident.status !== "resolved"
              ? "Resolving the incident ends all component statuses that it set."
              : undefined
          }
          error={errors[name]}
          options={optionsWith(unchanged)}
          parts={own.length === 0 ? [] : [{ key: "own", rows: own.map(toRow) }]}
          more={{ title: "Add component", ...others }}
        />
      );
    },
  };
}

/** Returns the ids of the components of a form that have a status in it. */
export function affectedIds({
  values,
  context,
}: {
  values: { components: SelectedStatuses };
  context: PageComponents;
}): string[] {
  return context.components.map(({ id }) => id).filter((id) => values.components(id) !== "");
}

/** Statuses with which a form for an incident proposes a component. */
const PROPOSED = ["degraded_performance", "partial_outage", "major_outage"] as const;

/**
 * Returns the statuses with which the form for a new incident starts, for components that a link names
 * (ids, separated by commas): their current statuses, or degraded performance without a problem.
 */
export function presetStatuses(
  ids: string | undefined,
  components: PageComponents["components"],
): SelectedStatuses {
  const named = new Set(ids?.split(","));
  const statuses = new Map<string, string>(
    components
      .filter(({ id }) => named.has(id))
      .map(({ id, status }) => [id, PROPOSED.find((each) => each === status) ?? PROPOSED[0]]),
  );
  return (id) => statuses.get(id) ?? "";
}

/** Adds the forms that edit an incident and its updates. */
export function addEditRoutes(area: Area, { ctx }: AdminDependencies): void {
  area.editForm("/:id/edit", {
    form: INCIDENT_FORM,
    load(reader, { params }) {
      const context = readIncidentForm(ctx, reader, params.id);
      return { resource: context.incident, version: context.incident.version, context };
    },
    show: ({ context: { incident } }) => ({
      title: `Edit ${incident.name}`,
      heading: "Edit incident",
      crumbs: incidentCrumbs(incident),
      intro: "To change the status or components, add an update.",
      button: "Save changes",
    }),
    conflictField: "external_ref",
    update(tx, changes, actor, { params }, { incident }) {
      const input = exactChanges(changes, incident);
      // The only change is the time of resolution, typed before the incident was reopened.
      if (Object.keys(input).length === 0) throw conflict("The incident is not resolved.");
      const { row } = updateIncident(
        ctx,
        tx,
        params.id,
        validate(UpdateIncidentBody, input),
        actor,
      );
      return row.version !== incident.version;
    },
    done: ({ params }) => ({ path: incidentPath(params.id), text: "The incident was changed." }),
  });

  area.editForm("/:id/updates/:update_id", {
    form: EDIT_UPDATE_FORM,
    load(reader, { params }) {
      const { update } = getUpdate(reader, params.id, params.update_id, true);
      const resource = presentUpdate(update);
      const context = { ...readIncidentForm(ctx, reader, params.id), update: resource };
      // The update has its own version, so that newer updates do not make the form stale.
      return { resource, version: update.updatedAt, context };
    },
    show: ({ context: { incident, update } }) => ({
      title: "Edit update",
      heading: `Edit update “${INCIDENT_WORDS[update.status]}”`,
      crumbs: incidentCrumbs(incident),
      intro: incident.draft
        ? undefined
        : "The page shows the change at once. No notifications are sent.",
      button: "Save update",
    }),
    update(tx, { display_at: at, ...changes }, actor, { params }, { incident }) {
      const input =
        at === undefined ? changes : { ...changes, display_at: exactTime(at, incident.started_at) };
      const body = validate(EditUpdateBody, input);
      const { row } = editUpdate(ctx, tx, params.id, params.update_id, body, actor);
      return row.version !== incident.version;
    },
    done: ({ params }) => ({ path: incidentPath(params.id), text: "The update was changed." }),
  });
}

/**
 * Returns the changes of an incident with exact times. The time of resolution is left out if the
 * incident is open, as the form does not show it.
 */
function exactChanges(
  changes: Partial<UpdateIncidentBody>,
  incident: Incident,
): UpdateIncidentBody {
  const exact = { ...changes };
  if (incident.status !== "resolved") delete exact.resolved_at;
  const startedAt = exact.started_at ?? incident.started_at;
  for (const name of ["identified_at", "monitoring_at", "resolved_at"] as const) {
    const time = exact[name];
    if (time) exact[name] = exactTime(time, startedAt);
  }
  return exact;
}

/**
 * Returns the start of an incident for the minute that contains it, and other times unchanged. Forms
 * have minutes only, and no time may lie before the start.
 */
function exactTime(time: string, startedAt: string): string {
  return time === `${startedAt.slice(0, 16)}:00.000Z` ? startedAt : time;
}

const SOURCES: Record<Incident["source"], string> = {
  api: "The API",
  dashboard: "The dashboard",
  monitor: "A monitor",
  import: "An import",
};

interface IncidentFactsProps {
  view: IncidentView;
  editPath: string | undefined;
  now: number;
}

/** Properties of an incident. */
export function IncidentFacts({ view, editPath, now }: IncidentFactsProps) {
  const { incident, monitors } = view;
  const { external_ref: externalRef, started_at: startedAt, resolved_at: resolvedAt } = incident;
  const after = (label: string, at: string | null) =>
    at === null ? [] : [{ label, value: `After ${lasting(startedAt, at)}` }];
  const { impact, impact_override: override, postmortem } = incident;
  const facts = [
    {
      label: "Impact",
      value: `${IMPACT_WORDS[impact]}, ${override === null ? "from its components" : "set manually"}`,
    },
    { label: "Started", value: <DayTime at={startedAt} now={now} /> },
    ...after("Identified", incident.identified_at),
    ...after("Monitoring", incident.monitoring_at),
    ...after("Resolved", resolvedAt),
    ...(postmortem === null && resolvedAt === null
      ? []
      : [{ label: "Post-mortem", value: <PostmortemState postmortem={postmortem} /> }]),
    {
      label: "Reported by",
      value:
        monitors.length > 1 && incident.source === "monitor"
          ? "Monitors"
          : SOURCES[incident.source],
    },
    ...(externalRef === null
      ? []
      : [{ label: "External reference", value: <code>{externalRef}</code> }]),
  ];
  return <TimelineFacts facts={facts} id={incident.id} editPath={editPath} />;
}

function PostmortemState({ postmortem }: Pick<Incident, "postmortem">) {
  if (postmortem === null) return <>None yet</>;
  return (
    <a href="#postmortem">{postmortem.published_at === null ? "Not published" : "Published"}</a>
  );
}
