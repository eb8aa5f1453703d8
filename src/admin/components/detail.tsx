import type { ComponentChange, ComponentRow } from "../../features/components";
import type { PageRow } from "../../features/pages";
import { type Role, roleAllows } from "../../domain/role";
import { toIso } from "../../kernel/time";
import {
  Actions,
  Button,
  ButtonLink,
  Card,
  Cell,
  Facts,
  Form,
  PageHead,
  RelativeTime,
  Row,
  Section,
  STATUS_WORDS,
  StatusLabel,
  Table,
} from "../../ui";
import { componentPath, componentsOfPagePath } from "../paths";
import type { StateOf } from "../forms/form";
import { FormFields } from "../forms/form-fields";
import { CauseList, effectiveCauses, type NamedCause, otherCauses } from "./cause-list";
import type { ComponentView } from "./component-view";
import { COMPONENT_FORM } from "./forms";
import { ManagedByFile } from "./managed";
import { ComponentMonitors, Uptime } from "./neighbours";

const CHANGE_COLUMNS = [
  { label: "When" },
  { label: "Change" },
  { label: "By" },
  { label: "Reason" },
];

interface ComponentDetailProps {
  component: ComponentRow;
  page: PageRow;
  view: ComponentView;
  causes: readonly NamedCause[];
  /** Status changes, newest first. */
  changes: readonly ComponentChange[];
  /** Form for the settings, which only admins see. */
  state: StateOf<typeof COMPONENT_FORM>;
  role: Role;
  /** Unix ms. */
  now: number;
}

/** One component: its status with causes, its history and its settings. */
export function ComponentDetail(props: ComponentDetailProps) {
  const { component, page, state, role, now } = props;
  const { id, name, groupId, status } = component;
  const causes = status === "operational" ? [] : effectiveCauses(component, props.causes);
  const others = otherCauses(props.causes).filter((each) => !causes.includes(each));
  return (
    <>
      <PageHead
        title={name}
        crumbs={[
          { href: componentsOfPagePath(page.slug), label: "Components" },
          { label: page.name },
        ]}
        actions={<ComponentActions id={id} role={role} />}
      />
      <Card>
        <Facts
          items={[
            {
              label: "Status",
              isWide: true,
              value: (
                <span class="order-note">
                  <StatusLabel status={status} /> <CauseList causes={causes} />
                </span>
              ),
            },
            ...(others.length === 0
              ? []
              : [{ label: "Also", isWide: true, value: <CauseList causes={others} /> }]),
            {
              label: "Group",
              value: state.context.groups.find((group) => group.id === groupId)?.name ?? "None",
            },
            { label: "Added", value: <RelativeTime at={toIso(component.createdAt)} now={now} /> },
            { label: "Id", value: <code>{id}</code>, isWide: true },
          ]}
        />
      </Card>
      <Uptime name={name} view={props.view} />
      <ComponentMonitors
        componentId={id}
        view={props.view}
        canAdd={roleAllows(role, "admin")}
        now={now}
      />
      <History changes={props.changes} now={now} />
      {roleAllows(role, "admin") ? <Settings component={component} state={state} /> : null}
    </>
  );
}

function ComponentActions({ id, role }: { id: string; role: Role }) {
  if (!roleAllows(role, "editor")) return null;
  return (
    <>
      <ButtonLink href={`${componentPath(id)}/status`} kind="primary" dialog>
        Set status
      </ButtonLink>
      {roleAllows(role, "admin") ? (
        <ButtonLink href={`${componentPath(id)}/delete`} kind="danger" dialog>
          Delete
        </ButtonLink>
      ) : null}
    </>
  );
}

/** Recorded status changes of a component. */
function History({ changes, now }: { changes: readonly ComponentChange[]; now: number }) {
  return (
    <Section title="Latest changes">
      {changes.length === 0 ? (
        <p class="muted">No status changes yet.</p>
      ) : (
        <Table columns={CHANGE_COLUMNS} caption="Latest status changes">
          {changes.map((change) => (
            <Row key={`${change.at} ${change.from} ${change.to}`}>
              <Cell label="When">
                <RelativeTime at={change.at} now={now} />
              </Cell>
              <Cell label="Change">
                {STATUS_WORDS[change.from]} → {STATUS_WORDS[change.to]}
              </Cell>
              <Cell label="By">{change.actor.label}</Cell>
              <Cell label="Reason">{change.reason}</Cell>
            </Row>
          ))}
        </Table>
      )}
    </Section>
  );
}

/** Form for the settings of a component. The status has its own form. */
function Settings({ component, state }: Pick<ComponentDetailProps, "component" | "state">) {
  return (
    <Section title="Settings">
      <Form action={componentPath(component.id)} hidden={state.hidden}>
        {component.managedBy === "apply" ? <ManagedByFile what="component" /> : null}
        <FormFields form={COMPONENT_FORM} state={state} />
        <Actions>
          <Button kind="primary">Save changes</Button>
        </Actions>
      </Form>
    </Section>
  );
}
