import type { ComponentRow } from "../../features/components";
import type { PageRow } from "../../features/pages";
import { Actions, Button, ButtonLink, DialogForm, Form, PageHead, StatusLabel } from "../../ui";
import type { StateOf } from "../forms/form";
import { FormFields } from "../forms/form-fields";
import { COMPONENTS_PATH, componentPath, componentsOfPagePath } from "../paths";
import { CauseList, type NamedCause, otherCauses } from "./cause-list";
import { placeInList } from "./component-paths";
import { COMPONENT_FORM, STATUS_FORM } from "./forms";

/** Components → Add component. */
export function NewComponent({
  page,
  state,
}: {
  page: PageRow;
  state: StateOf<typeof COMPONENT_FORM>;
}) {
  const back = componentsOfPagePath(page.slug);
  return (
    <>
      <PageHead
        title="Add component"
        crumbs={[{ href: back, label: "Components" }, { label: page.name }]}
      />
      <Form action={`${COMPONENTS_PATH}/new`} hidden={{ ...state.hidden, page: page.id }}>
        <FormFields form={COMPONENT_FORM} state={state} />
        <Actions>
          <Button kind="primary">Add component</Button>
          <ButtonLink href={back}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

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
      cancelHref={placeInList(page.slug, component.id)}
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
