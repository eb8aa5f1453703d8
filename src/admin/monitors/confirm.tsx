import type { MonitorRecord } from "../../features/monitors/records";
import type { MonitorToken } from "../../features/monitors/tokens";
import { webhookName } from "../../features/webhooks/changes";
import type { WebhookRow } from "../../features/webhooks/store";
import { DialogForm } from "../../ui/form";
import { defineForm, type FormState } from "../../ui/forms/form";
import { FormInputs } from "../../ui/forms/fields";
import { tokenKindInWords } from "./job";
import { pathsOfMonitor } from "./monitor-paths";

/** Maximum number of webhooks that a confirmation names. */
const WEBHOOKS_SHOWN = 5;

interface DeleteMonitorProps {
  title: string;
  record: MonitorRecord;
  /** Webhooks that are for this monitor alone. */
  webhooks: readonly WebhookRow[];
}

/** Asks before a monitor is deleted, naming the data that is deleted or kept. */
export function DeleteMonitor({ title, record, webhooks }: DeleteMonitorProps) {
  const paths = pathsOfMonitor(record.row.id);
  return (
    <DialogForm
      title={title}
      action={paths.delete}
      button="Delete monitor"
      isDanger
      cancelHref={paths.home}
    >
      <p>
        Checks stop, and the results are no longer visible. Statuses set by the monitor end now, and
        stay in the history of the components. This cannot be undone.
      </p>
      <WebhooksLeft webhooks={webhooks} />
      {record.row.paused ? null : <p>To stop the monitor for a while, pause it instead.</p>}
    </DialogForm>
  );
}

/** Sentence about webhooks that are left without a monitor. */
export function WebhooksLeft({ webhooks }: Pick<DeleteMonitorProps, "webhooks">) {
  if (webhooks.length === 0) return null;
  const names = webhooks.slice(0, WEBHOOKS_SHOWN).map((row) => `“${webhookName(row)}”`);
  const more = webhooks.length - names.length;
  if (more > 0) names.push(`${more.toLocaleString("en")} more`);
  return (
    <p>
      {webhooks.length === 1 ? "This webhook is" : "These webhooks are"} left without a monitor:{" "}
      {names.join(", ")}.
    </p>
  );
}

/** Asks before a token of a push monitor is ended. */
export function EndToken(props: { title: string; id: string; token: MonitorToken }) {
  const { title, id, token } = props;
  const paths = pathsOfMonitor(id);
  return (
    <DialogForm
      title={title}
      action={paths.endToken(token.key)}
      button="End token"
      isDanger
      cancelHref={paths.home}
    >
      <p>
        {tokenKindInWords(token.kind)}. Calls with it are refused from now on, and the monitor goes
        down if its job has no other token.
      </p>
    </DialogForm>
  );
}

/** Form without fields, which is submitted once. */
export const ROTATE_FORM = defineForm<object>()({});

/** Asks before a new token replaces the old one. */
export function RotateToken(props: {
  title: string;
  state: FormState<object, { record: MonitorRecord }>;
}) {
  const { title, state } = props;
  const paths = pathsOfMonitor(state.context.record.row.id);
  return (
    <DialogForm
      title={title}
      action={paths.rotate}
      hidden={state.hidden}
      button="Rotate token"
      cancelHref={paths.home}
    >
      <FormInputs form={ROTATE_FORM} state={state} />
      <p>
        The job gets a new address to call, which is shown once. The current address is refused from
        then on, so the monitor goes down unless you update the job in time.
      </p>
    </DialogForm>
  );
}
