import type { ComponentRow, GroupRow } from "../../features/components";
import { Actions, Button, ButtonLink, DialogBody, Form } from "../../ui";
import { componentPath, groupPath } from "../paths";

/** Says what goes with a component, and what stays. */
export function DeleteComponent({ title, component }: { title: string; component: ComponentRow }) {
  const path = componentPath(component.id);
  return (
    <DialogBody title={title}>
      <Form action={`${path}/delete`}>
        <p>
          It disappears from the page at once, with its days and its uptime, and the API no longer
          knows it. Incidents that name it go on naming it. This cannot be undone.
        </p>
        <Actions>
          <Button kind="danger">Delete component</Button>
          <ButtonLink href={path} closesDialog>
            Cancel
          </ButtonLink>
        </Actions>
      </Form>
    </DialogBody>
  );
}

/** Says that a group's components stay. */
export function DeleteGroup({ title, group }: { title: string; group: GroupRow }) {
  const path = groupPath(group.id);
  return (
    <DialogBody title={title}>
      <Form action={`${path}/delete`}>
        <p>Its components stay on the page, without a group. This cannot be undone.</p>
        <Actions>
          <Button kind="danger">Delete group</Button>
          <ButtonLink href={path} closesDialog>
            Cancel
          </ButtonLink>
        </Actions>
      </Form>
    </DialogBody>
  );
}
