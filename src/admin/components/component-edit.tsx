import type { ComponentRow, GroupRow } from "../../features/components";
import { Actions, Button, Form, FormErrors, Refusal, Section } from "../../ui";
import { wording } from "../field-errors";
import { componentPath } from "../paths";
import { type FormRefusal, versionField } from "../stale";
import { ComponentFields } from "./component-fields";
import { COMPONENT_LABELS, type ComponentValues } from "./component-values";
import { ManagedByFile } from "./managed";

/** What of a component can be changed besides its status. */
export function ComponentEdit(props: {
  component: ComponentRow;
  groups: readonly GroupRow[];
  values: ComponentValues;
  refusal?: FormRefusal | undefined;
}) {
  const { component, groups, values, refusal } = props;
  const wrong = wording(refusal?.complaints ?? {}, COMPONENT_LABELS);
  return (
    <Section title="Settings">
      <Form action={componentPath(component.id)} hidden={versionField(component)}>
        {component.managedBy === "apply" ? <ManagedByFile what="component" /> : null}
        {refusal?.stale === undefined ? null : <Refusal>{refusal.stale}</Refusal>}
        <FormErrors errors={wrong.all} />
        <ComponentFields values={values} groups={groups} wrong={wrong} />
        <Actions>
          <Button kind="primary">Save changes</Button>
        </Actions>
      </Form>
    </Section>
  );
}
