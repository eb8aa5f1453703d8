import type { MonitorRow } from "../../features/monitors/store";
import type { WebhookRow } from "../../features/webhooks/store";
import { plural } from "../../base/text";
import { TAG_MAX } from "../../base/tags";
import { DialogForm } from "../../ui/form";
import { choiceField, FormFields, textField } from "../../ui/forms/fields";
import { defineForm, type StateOf } from "../../ui/forms/form";
import { monitorPath, MONITORS_PATH } from "../../ui/frame/paths";
import { WebhooksLeft } from "./confirm";
import { SELECTED_MONITORS_PATH } from "./monitor-paths";

type TagAction = "add" | "remove";

interface SelectedProps {
  monitors: readonly MonitorRow[];
  /** Path of the list part in which they were selected. */
  backPath: string;
}

/** Asks before selected monitors are deleted, and names them. */
export function DeleteSelected({
  monitors,
  webhooks,
  backPath,
}: SelectedProps & { webhooks: readonly WebhookRow[] }) {
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
      <WebhooksLeft webhooks={webhooks} />
    </DialogForm>
  );
}

/** Form for the tag of selected monitors. */
export const TAG_FORM = defineForm<{ tag: string; action: TagAction }>()({
  tag: textField({ label: "Tag", maxlength: TAG_MAX, isRequired: true, autofocus: true }),
  action: choiceField<TagAction>({
    label: "Action",
    initial: "add",
    options: [
      { value: "add", label: "Add the tag" },
      { value: "remove", label: "Remove the tag" },
    ],
  }),
});

/** Asks for the tag that is added to selected monitors or removed from them. */
export function TagSelected({
  monitors,
  backPath,
  state,
}: SelectedProps & { state: StateOf<typeof TAG_FORM> }) {
  return (
    <DialogForm
      title={`Tag ${plural(monitors.length, "monitor")}`}
      action={selectedPath("/tag", backPath)}
      button="Change tags"
      cancelHref={backPath}
    >
      <FormFields form={TAG_FORM} state={state} />
      <Selected monitors={monitors} />
    </DialogForm>
  );
}

/** Names of selected monitors with links, and their ids as inputs. */
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

/** Returns the path of a form for selected monitors with the query of the list. */
function selectedPath(part: string, backPath: string): string {
  return backPath.replace(MONITORS_PATH, `${SELECTED_MONITORS_PATH}${part}`);
}
