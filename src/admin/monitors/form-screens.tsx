import type { Monitor } from "../../features/monitors";
import { type CheckOutcome, MONITOR_TYPES, type MonitorType } from "../../domain/monitor-state";
import { toIso } from "../../kernel/time";
import { Actions, Button, ButtonLink, Form, longDay, Notice, PageHead, Tabs } from "../../ui";
import { ManagedByFile } from "../components/managed";
import type { FormState, ValuesOf } from "../forms/form";
import { FormFields } from "../forms/form-fields";
import { MONITORS_PATH } from "../paths";
import { type MonitorContext, type MonitorFields, monitorForm } from "./forms";
import { NEW_MONITOR_PATH, newMonitorPath, pathsOfMonitor } from "./monitor-paths";
import { TYPE_FORMS } from "./types";
import { latencyInWords, typeLabel } from "./words";

/** Intent of the button that runs a check without saving. */
export const CHECK_NOW = "check";

/** Result of a check that was run without saving. */
export interface TrialResult {
  outcome: CheckOutcome;
  latencyMs: number | null;
  message: string | null;
  certificateExpiresAt?: number;
}

/** Screen data of the forms for monitors. */
export interface MonitorFormContext extends MonitorContext {
  /** Identifies one filling in of the form, under which typed secrets are held. */
  draft: string;
  trial?: TrialResult;
}

interface EditContext extends MonitorFormContext {
  monitor: Monitor;
  isFromFile: boolean;
}

type StateWith<Context> = FormState<ValuesOf<MonitorFields>, Context>;

/** "Create monitor": a form for each type. */
export function NewMonitor(props: { type: MonitorType; state: StateWith<MonitorFormContext> }) {
  const { type, state } = props;
  const hidden = { type, draft: state.context.draft };
  return (
    <>
      <PageHead title="Create monitor" crumbs={[{ href: MONITORS_PATH, label: "Monitors" }]} />
      <Tabs
        label="Type of the monitor"
        items={MONITOR_TYPES.map((each) => ({
          href: newMonitorPath(each),
          label: typeLabel(each),
          isCurrent: each === type,
        }))}
      />
      <p class="muted">{TYPE_FORMS[type].sentence}</p>
      <MonitorForm
        type={type}
        state={{ ...state, hidden: { ...hidden, ...state.hidden } }}
        action={NEW_MONITOR_PATH}
        button="Create monitor"
        cancelHref={MONITORS_PATH}
      />
    </>
  );
}

/** Edit form of a monitor. The type cannot be changed. */
export function EditMonitor({ state }: { state: StateWith<EditContext> }) {
  const { monitor, isFromFile, draft } = state.context;
  const paths = pathsOfMonitor(monitor.id);
  return (
    <>
      <PageHead
        title="Edit monitor"
        crumbs={[
          { href: MONITORS_PATH, label: "Monitors" },
          { href: paths.home, label: monitor.name },
        ]}
      />
      {isFromFile ? <ManagedByFile what="monitor" /> : null}
      <MonitorForm
        type={monitor.type}
        state={{ ...state, hidden: { draft, ...state.hidden } }}
        action={paths.edit}
        button="Save changes"
        cancelHref={paths.home}
      />
    </>
  );
}

function MonitorForm(props: {
  type: MonitorType;
  state: StateWith<MonitorFormContext>;
  action: string;
  button: string;
  cancelHref: string;
}) {
  const { type, state, action, button, cancelHref } = props;
  const { trial } = state.context;
  return (
    <>
      {trial ? <TrialNotice trial={trial} /> : null}
      <Form action={action} hidden={state.hidden} enter={{}}>
        <FormFields form={monitorForm(type)} state={state} />
        <Actions>
          <Button kind="primary">{button}</Button>
          {TYPE_FORMS[type].isPush ? null : (
            <Button name="intent" value={CHECK_NOW}>
              Check now
            </Button>
          )}
          <ButtonLink href={cancelHref}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

const OUTCOMES = {
  ok: { tone: "success", title: "The check succeeded" },
  failed: { tone: "danger", title: "The check failed" },
  unknown: { tone: "warning", title: "The server could not perform the check" },
} as const satisfies Record<CheckOutcome, object>;

function TrialNotice({ trial }: { trial: TrialResult }) {
  const { outcome, latencyMs, message, certificateExpiresAt } = trial;
  return (
    <div role="status">
      <Notice {...OUTCOMES[outcome]}>
        {message === null ? null : <p>{message}</p>}
        {latencyMs === null ? null : <p>Answered in {latencyInWords(latencyMs)}.</p>}
        {certificateExpiresAt === undefined ? null : (
          <p>The certificate ends on {longDay(toIso(certificateExpiresAt))}.</p>
        )}
        <p>Nothing was saved yet.</p>
      </Notice>
    </div>
  );
}
