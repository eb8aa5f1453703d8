import type { ComponentRow, GroupRow } from "../../features/components/store";
import type { PageRow } from "../../features/pages/store";
import { DialogForm } from "../../ui/form";
import { StatusLabel } from "../../ui/blocks";
import type { StateOf } from "../../ui/forms/form";
import { FormFields } from "../../ui/forms/fields";
import { componentPath, groupPath } from "../../ui/frame/paths";
import { CauseList, type NamedCause, otherCauses } from "./cause-list";
import { listPathOf } from "./component-paths";
import { STATUS_FORM } from "./forms";

/** Form for the manual status of a component, with the other causes of its status. */
export function SetStatus(props: {
  title: string;
  component: ComponentRow;
  page: PageRow;
  causes: readonly NamedCause[];
  state: StateOf<typeof STATUS_FORM>;
}) {
  const { title, component, page, causes, state } = props;
  return (
    <DialogForm
      title={title}
      action={`${componentPath(component.id)}/status`}
      hidden={state.hidden}
      button="Set status"
      cancelHref={listPathOf(page.slug, component.id)}
    >
      <FormFields form={STATUS_FORM} state={state}>
        <OtherCauses causes={otherCauses(causes)} />
      </FormFields>
    </DialogForm>
  );
}

function OtherCauses({ causes }: { causes: readonly NamedCause[] }) {
  if (causes.length === 0) {
    return (
      <p>The page shows this status unless an incident, maintenance or monitor sets a worse one.</p>
    );
  }
  return (
    <div>
      <p>The page shows the worst of this status and the following causes:</p>
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

/** Asks before a component is deleted, naming the data that is deleted or kept. */
export function DeleteComponent({ component: { id, name } }: { component: ComponentRow }) {
  const path = componentPath(id);
  return (
    <DialogForm
      title={`Delete “${name}”`}
      action={`${path}/delete`}
      button="Delete component"
      isDanger
      cancelHref={path}
    >
      <p>
        The component and its uptime history are removed from the page and the API at once. Past
        incidents still name the component. This cannot be undone.
      </p>
    </DialogForm>
  );
}

/** Asks before a group is deleted. Its components are kept. */
export function DeleteGroup({ group: { id, name } }: { group: GroupRow }) {
  const path = groupPath(id);
  return (
    <DialogForm
      title={`Delete “${name}”`}
      action={`${path}/delete`}
      button="Delete group"
      isDanger
      cancelHref={path}
    >
      <p>The group's components stay on the page, without a group. This cannot be undone.</p>
    </DialogForm>
  );
}
