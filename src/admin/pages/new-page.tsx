import { Actions, Button, ButtonLink, Form, Notice, PageHead } from "../../ui";
import type { StateOf } from "../forms/form";
import { FormFields } from "../forms/form-fields";
import { PAGES_PATH } from "../paths";
import { NEW_PAGE_FORM } from "./forms";

interface NewPageProps {
  state: StateOf<typeof NEW_PAGE_FORM>;
  /** True if the sample page exists, which the first own page removes. */
  hasSample: boolean;
}

/** Pages → Create page. */
export function NewPage({ state, hasSample }: NewPageProps) {
  return (
    <>
      <PageHead title="Create page" crumbs={[{ href: PAGES_PATH, label: "Pages" }]} />
      {hasSample ? (
        <Notice tone="info" title="The sample page will be deleted">
          Creating your first page deletes the sample page with everything on it.
        </Notice>
      ) : null}
      <Form action={`${PAGES_PATH}/new`} hidden={state.hidden}>
        <FormFields form={NEW_PAGE_FORM} state={state} />
        <Actions>
          <Button kind="primary">Create page</Button>
          <ButtonLink href={PAGES_PATH}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}
