import type { MonitorRecord } from "../../features/monitors";
import { DialogForm } from "../../ui";
import { pathsOfMonitor } from "./monitor-paths";

/** Says what goes with a monitor, and what stays. */
export function DeleteMonitor({ title, record }: { title: string; record: MonitorRecord }) {
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
        It is not checked any more, and its results can no longer be seen. What it marks ends now;
        what it marked stays in the history of its components. This cannot be undone.
      </p>
      {record.row.paused ? null : <p>To stop it for a while, pause it instead.</p>}
    </DialogForm>
  );
}

/** Says what a new token means. */
export function RotateToken(props: { title: string; record: MonitorRecord; formToken: string }) {
  const { title, record, formToken } = props;
  const paths = pathsOfMonitor(record.row.id);
  return (
    <DialogForm
      title={title}
      action={paths.rotate}
      hidden={{ form: formToken }}
      button="Rotate token"
      cancelHref={paths.home}
    >
      <p>
        The job gets a new address to call, which is shown once. The present one is refused from
        then on, so the monitor goes down unless the job has the new one in time.
      </p>
    </DialogForm>
  );
}
