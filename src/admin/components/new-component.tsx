import type { GroupRow } from "../../features/components";
import type { PageRow } from "../../features/pages";
import { Actions, Button, ButtonLink, Form, ErrorSummary, PageHead } from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { COMPONENTS_PATH, componentsOfPagePath } from "../paths";
import { ComponentFields } from "./component-fields";
import { COMPONENT_LABELS, type ComponentValues } from "./component-values";

/** Components → Add component. */
export function NewComponent(props: {
  page: PageRow;
  groups: readonly GroupRow[];
  values: ComponentValues;
  complaints: Complaints;
  /** Identifies this rendering of the form, so that submitting it twice creates one component. */
  formToken: string;
}) {
  const { page, groups, values, complaints, formToken } = props;
  const wrong = wording(complaints, COMPONENT_LABELS);
  const back = componentsOfPagePath(page.slug);
  return (
    <>
      <PageHead
        title="Add component"
        crumbs={[{ href: back, label: "Components" }, { label: page.name }]}
      />
      <Form action={`${COMPONENTS_PATH}/new`} hidden={{ form: formToken, page: page.id }}>
        <ErrorSummary errors={wrong.all} />
        <ComponentFields values={values} groups={groups} wrong={wrong} />
        <Actions>
          <Button kind="primary">Add component</Button>
          <ButtonLink href={back}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}
