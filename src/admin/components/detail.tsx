import type { ComponentChange, ComponentRow, GroupRow } from "../../features/components";
import type { PageRow } from "../../features/pages";
import { type Role, roleAllows } from "../../domain/role";
import { toIso } from "../../kernel/time";
import { ButtonLink, Card, Facts, RelativeTime, PageHead, StatusLabel } from "../../ui";
import { componentPath, componentsOfPagePath } from "../paths";
import type { FormRejection } from "../stale";
import { ComponentEdit } from "./component-edit";
import type { ComponentValues } from "./component-values";
import { History } from "./history";
import { effectiveCauses, type NamedCause, CauseList } from "./cause-list";

interface ComponentDetailProps {
  component: ComponentRow;
  page: PageRow;
  groups: readonly GroupRow[];
  causes: readonly NamedCause[];
  /** Status changes, newest first. */
  changes: readonly ComponentChange[];
  /** Values of the form: the stored ones, or those of a rejected submission. */
  values: ComponentValues;
  rejection?: FormRejection | undefined;
  role: Role;
  /** Unix ms. */
  now: number;
}

/** One component: its status with causes, its history and its settings. */
export function ComponentDetail(props: ComponentDetailProps) {
  const { component, page, groups, role, now } = props;
  const { id, name, groupId, status } = component;
  const why = status === "operational" ? [] : effectiveCauses(component, props.causes);
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
                  <StatusLabel status={status} /> <CauseList causes={why} />
                </span>
              ),
            },
            {
              label: "Group",
              value: groups.find((group) => group.id === groupId)?.name ?? "None",
            },
            { label: "Added", value: <RelativeTime at={toIso(component.createdAt)} now={now} /> },
            { label: "Id", value: <code>{id}</code>, isWide: true },
          ]}
        />
      </Card>
      <History changes={props.changes} now={now} />
      {roleAllows(role, "admin") ? (
        <ComponentEdit
          component={component}
          groups={groups}
          values={props.values}
          rejection={props.rejection}
        />
      ) : null}
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
