import type { MonitorRow } from "../../features/monitors";
import { plural } from "../../kernel/text";
import { DialogForm } from "../../ui";
import { MONITORS_PATH, monitorPath } from "../paths";
import { SELECTED_MONITORS_PATH } from "./monitor-paths";

interface SelectedProps {
  monitors: readonly MonitorRow[];
  /** Path of the list at the place from which they were chosen. */
  backPath: string;
}

/** Asks before chosen monitors are deleted, and names them. */
export function DeleteSelected({ monitors, backPath }: SelectedProps) {
  const what = plural(monitors.length, "monitor");
  return (
    <DialogForm
      title={`Delete ${what}`}
      action={selectedPath("/delete", backPath)}
      button={`Delete ${what}`}
      isDanger
      cancelHref={backPath}
    >
      <Selected monitors={monitors} />
      <p>
        Checks stop, and the results are no longer visible. Statuses set by the monitors end now,
        and stay in the history of the components. This cannot be undone.
      </p>
    </DialogForm>
  );
}

/** Names of chosen monitors with links, and their ids as inputs. */
function Selected({ monitors }: Pick<SelectedProps, "monitors">) {
  return (
    <ul class="plain-list chosen">
      {monitors.map(({ id, name }) => (
        <li key={id}>
          <input type="hidden" name="id" value={id} />
          <a href={monitorPath(id)}>{name}</a>
        </li>
      ))}
    </ul>
  );
}

/** Returns the path of a form for chosen monitors with the query of the list. */
function selectedPath(part: string, backPath: string): string {
  return backPath.replace(MONITORS_PATH, `${SELECTED_MONITORS_PATH}${part}`);
}
