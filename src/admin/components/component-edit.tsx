import type { ComponentRow, GroupRow } from "../../features/components";
import { Actions, Button, Form, ErrorSummary, FormNotice, Section } from "../../ui";
import { wording } from "../field-errors";
import { componentPath } from "../paths";
import { type FormRejection, versionField } from "../stale";
import { ComponentFields } from "./component-fields";
import { COMPONENT_LABELS, type ComponentValues } from "./component-values";
import { ManagedByFile } from "./managed";

/** Form for the settings of a component. The status has its own form. */
export function ComponentEdit(props: {
  component: ComponentRow;
  groups: readonly GroupRow[];
  values: ComponentValues;
  rejection?: FormRejection | undefined;
}) {
  const { component, groups, values, rejection } = props;
  const wrong = wording(rejection?.complaints ?? {}, COMPONENT_LABELS);
  return (
    <Section title="Settings">
      <Form action={componentPath(component.id)} hidden={versionField(component)}>
        {component.managedBy === "apply" ? <ManagedByFile what="component" /> : null}
        {rejection?.stale === undefined ? null : <FormNotice>{rejection.stale}</FormNotice>}
        <ErrorSummary errors={wrong.all} />
        <ComponentFields values={values} groups={groups} wrong={wrong} />
        <Actions>
          <Button kind="primary">Save changes</Button>
        </Actions>
      </Form>
    </Section>
  );
}
