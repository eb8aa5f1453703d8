import type { Monitor } from "../../features/monitors/model";
import {
  type CheckOutcome,
  type MonitorType,
  SUPPORTED_TYPES,
  type SupportedType,
} from "../../base/status";
import { toIso } from "../../base/time";
import { Button } from "../../ui/buttons";
import { longDay, zoneTime } from "../../ui/times";
import { Notice } from "../../ui/blocks";
import { Tabs } from "../../ui/navigation";
import { ManagedByFile } from "../../features/components/screens/forms";
import type { FormState, ValuesOf } from "../../ui/forms/form";
import type { Step } from "../../egress/steps";
import { MONITORS_PATH } from "../../ui/frame/paths";
import { FormScreen } from "../../ui/screens/form-screen";
import { CheckSteps } from "./check-steps";
import { type MonitorContext, monitorForm } from "./forms";
import type { MonitorFields } from "./monitor-fields";
import { NEW_MONITOR_PATH, newMonitorPath, pathsOfMonitor } from "./monitor-paths";
import type { DueCalls } from "./timing";
import { TYPE_FORMS } from "./types";
import { latencyInWords, typeLabel } from "./words";

/** Intent of the button that runs a check without saving. */
export const CHECK_NOW = "check";

/** Intent of the button that shows an empty form after the monitor was created. */
export const ADD_ANOTHER = "another";

/** Result of a check that was run without saving. */
interface TrialResult {
  outcome: CheckOutcome;
  latencyMs: number | null;
  message: string | null;
  certificate?: { expiresAt: number };
  steps: readonly Step[];
}

/** Screen data of the forms for monitors. */
export interface MonitorFormContext extends MonitorContext {
  /** Identifies one filling in of the form, under which typed secrets are held. */
  draft: string;
  trial?: TrialResult;
  nextCalls?: DueCalls;
}

interface EditContext extends MonitorFormContext {
  monitor: Monitor;
  isFromFile: boolean;
}

const LIST = { href: MONITORS_PATH, label: "Monitors" };

type StateWith<Context> = FormState<ValuesOf<MonitorFields>, Context>;

/** "Create monitor": a form for each type. */
export function NewMonitor(props: { type: SupportedType; state: StateWith<MonitorFormContext> }) {
  const { type, state } = props;
  const { draft, trial, nextCalls } = state.context;
  return (
    <FormScreen
      title="Create monitor"
      crumbs={[LIST]}
      above={
        <>
          <Tabs
            label="Type of the monitor"
            items={SUPPORTED_TYPES.map((each) => ({
              href: newMonitorPath(each),
              label: typeLabel(each),
              isCurrent: each === type,
            }))}
            isWrapped
          />
          <p class="muted">{TYPE_FORMS[type].sentence}</p>
          {trial ? <TrialNotice trial={trial} /> : null}
          {nextCalls ? <DueCallsNotice {...nextCalls} /> : null}
        </>
      }
      form={monitorForm(type)}
      state={{ ...state, hidden: { type, draft, ...state.hidden } }}
      action={NEW_MONITOR_PATH}
      enter={{}}
    >
      <Button kind="primary">Create monitor</Button>
      {TYPE_FORMS[type].isPush ? null : (
        <Button name="intent" value={ADD_ANOTHER}>
          Create and add another
        </Button>
      )}
      <CheckButton type={type} />
    </FormScreen>
  );
}

/** Edit form of a monitor. The type cannot be changed. */
export function EditMonitor({ state }: { state: StateWith<EditContext> }) {
  const { monitor, isFromFile, draft, trial, nextCalls } = state.context;
  const paths = pathsOfMonitor(monitor.id);
  return (
    <FormScreen
      title="Edit monitor"
      crumbs={[LIST, { href: paths.home, label: monitor.name }]}
      above={
        <>
          {isFromFile ? <ManagedByFile what="monitor" /> : null}
          {trial ? <TrialNotice trial={trial} /> : null}
          {nextCalls ? <DueCallsNotice {...nextCalls} /> : null}
        </>
      }
      form={monitorForm(monitor.type)}
      state={{ ...state, hidden: { draft, ...state.hidden } }}
      action={paths.edit}
      enter={{}}
    >
      <Button kind="primary">Save changes</Button>
      <CheckButton type={monitor.type} />
    </FormScreen>
  );
}

/**
 * Button that checks the typed configuration once; for push monitors it shows when calls are due. Absent for
 * types that the server does not check.
 */
function CheckButton({ type }: { type: MonitorType }) {
  if (type === "unsupported") return null;
  return (
    <Button name="intent" value={CHECK_NOW}>
      {TYPE_FORMS[type].isPush ? "Show due times" : "Check now"}
    </Button>
  );
}

function DueCallsNotice({ times, timeZone }: DueCalls) {
  return (
    <div role="status">
      {times.length === 0 ? (
        <Notice tone="maint" title="There is no schedule">
          <p>Select “By a schedule” and type a cron expression to see the next due times.</p>
        </Notice>
      ) : (
        <Notice tone="ok" title={`The next ${times.length} due times`}>
          <ul class="plain-list">
            {times.map((at) => (
              <li key={at}>{zoneTime(at, timeZone)}</li>
            ))}
          </ul>
          <p>Nothing was saved yet.</p>
        </Notice>
      )}
    </div>
  );
}

const OUTCOMES = {
  ok: { tone: "ok", title: "The check succeeded" },
  failed: { tone: "major", title: "The check failed" },
  unknown: { tone: "degraded", title: "The server could not perform the check" },
} as const satisfies Record<CheckOutcome, object>;

function TrialNotice({ trial }: { trial: TrialResult }) {
  const { outcome, latencyMs, message, certificate, steps } = trial;
  return (
    <>
      <div role="status">
        <Notice {...OUTCOMES[outcome]}>
          {message === null ? null : <p>{message}</p>}
          {latencyMs === null ? null : <p>The response took {latencyInWords(latencyMs)}.</p>}
          {certificate === undefined ? null : (
            <p>The certificate expires on {longDay(toIso(certificate.expiresAt))}.</p>
          )}
          <p>Nothing was saved yet.</p>
        </Notice>
      </div>
      <CheckSteps steps={steps} />
    </>
  );
}
