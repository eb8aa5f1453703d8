import type { GroupRow } from "../../features/components";
import type { PageRow } from "../../features/pages";
import { Actions, Button, ButtonLink, DialogForm, Form, PageHead } from "../../ui";
import type { StateOf } from "../forms/form";
import { FormFields } from "../forms/form-fields";
import { COMPONENTS_PATH, componentsOfPagePath, groupPath } from "../paths";
import { GROUP_FORM } from "./forms";
import { ManagedByFile } from "./managed";

interface GroupProps {
  page: PageRow;
  state: StateOf<typeof GROUP_FORM>;
}

/** Components → Add group. */
export function NewGroup({ page, state }: GroupProps) {
  return (
    <>
      <GroupHead title="Add group" page={page} />
      <Form action={`${COMPONENTS_PATH}/groups/new`} hidden={{ ...state.hidden, page: page.id }}>
        <FormFields form={GROUP_FORM} state={state} />
        <Actions>
          <Button kind="primary">Add group</Button>
          <ButtonLink href={componentsOfPagePath(page.slug)}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

/** One group and its settings. */
export function GroupEdit({ group, page, state }: GroupProps & { group: GroupRow }) {
  return (
    <>
      <GroupHead
        title={group.name}
        page={page}
        actions={
          <ButtonLink href={`${groupPath(group.id)}/delete`} kind="danger" dialog>
            Delete
          </ButtonLink>
        }
      />
      <Form action={groupPath(group.id)} hidden={state.hidden}>
        {group.managedBy === "apply" ? <ManagedByFile what="group" /> : null}
        <FormFields form={GROUP_FORM} state={state} />
        <Actions>
          <Button kind="primary">Save changes</Button>
          <ButtonLink href={componentsOfPagePath(page.slug)}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

function GroupHead({
  page,
  ...head
}: Omit<Parameters<typeof PageHead>[0], "crumbs"> & { page: PageRow }) {
  const crumbs = [
    { href: componentsOfPagePath(page.slug), label: "Components" },
    { label: page.name },
  ];
  return <PageHead {...head} crumbs={crumbs} />;
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
