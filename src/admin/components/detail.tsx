import type { ComponentChange } from "../../features/components/model";
import type { ComponentRow } from "../../features/components/store";
import type { PageRow } from "../../features/pages/store";
import { type Role, roleAllows } from "../../base/actor";
import { STATUS_TONES } from "../../base/status";
import { capitalised } from "../../base/text";
import { toIso } from "../../base/time";
import { Actions, Form } from "../../ui/form";
import { Button, ButtonLink } from "../../ui/buttons";
import { Columns, Facts, Notice, Section, STATUS_WORDS, StatusLabel } from "../../ui/blocks";
import { DetailCard, HeadFact, HeadFacts, MoreMenu } from "../../ui/detail";
import { Icon } from "../../ui/icons";
import { PageHead } from "../../ui/navigation";
import { RelativeTime, shortDay } from "../../ui/times";
import { ReportLink } from "../../features/incidents/screens/list";
import { Since } from "../monitors/state";
import { componentPath, componentsOfPagePath, pagePath } from "../../ui/frame/paths";
import type { StateOf } from "../../ui/forms/form";
import { FormFields } from "../../ui/forms/fields";
import { CauseList, effectiveCauses, type NamedCause, otherCauses } from "./cause-list";
import type { ComponentView } from "./component-view";
import { ComponentTags } from "./tags";
import { COMPONENT_FORM } from "./forms";
import { ManagedByFile } from "./managed";
import { ComponentEvents, StatusChanges } from "./events";
import { ComponentMonitors, ResponseTime, Uptime } from "./detail-cards";

/** Id of the form for the settings. */
const SETTINGS_ID = "component-settings";

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

/** One component: its status with causes, monitors, incidents, history and settings. */
export function ComponentDetail(props: ComponentDetailProps) {
  const { component, page, view, changes, state, role, now } = props;
  const { id, name } = component;
  const isAdmin = roleAllows(role, "admin");
  return (
    <>
      <PageHead
        title={name}
        crumbs={[
          { href: componentsOfPagePath(page.slug), label: "Components" },
          { label: page.name },
        ]}
        actions={<ComponentActions component={component} role={role} />}
      >
        <div id="component-state" data-live="">
          <Now {...props} />
        </div>
      </PageHead>
      <div class="slot" id="component-causes" data-live="">
        <Causes component={component} causes={props.causes} />
      </div>
      <Uptime name={name} view={view} />
      <Columns
        aside={
          <>
            <ResponseTime view={view} />
            <StatusChanges changes={changes} now={now} />
            <Details {...props} />
          </>
        }
      >
        <ComponentMonitors componentId={id} view={view} canAdd={isAdmin} now={now} />
        <ComponentEvents view={view} now={now} />
      </Columns>
      {isAdmin ? <Settings component={component} state={state} /> : null}
    </>
  );
}

function ComponentActions({ component, role }: { component: ComponentRow; role: Role }) {
  const { id, pageId } = component;
  if (!roleAllows(role, "editor")) return null;
  const isAdmin = roleAllows(role, "admin");
  return (
    <>
      {isAdmin ? (
        <ButtonLink href={`#${SETTINGS_ID}`}>
          <Icon name="pencil" />
          Edit
        </ButtonLink>
      ) : null}
      <ReportLink page={pageId} components={[id]} />
      <ButtonLink href={`${componentPath(id)}/status`} kind="primary" dialog>
        Set status
      </ButtonLink>
      {isAdmin ? (
        <MoreMenu label="More actions">
          <ButtonLink href={`${componentPath(id)}/delete`} kind="danger" dialog>
            Delete
          </ButtonLink>
        </MoreMenu>
      ) : null}
    </>
  );
}

/** Status of a component since its last change, its page and its group. */
function Now({ component, page, changes, state, now }: ComponentDetailProps) {
  const { status, groupId, createdAt } = component;
  const [last] = changes;
  const group = state.context.groups.find(({ id }) => id === groupId);
  return (
    <HeadFacts>
      <span>
        <StatusLabel status={status} />{" "}
        <Since at={last?.to === status ? Date.parse(last.at) : createdAt} now={now} />
      </span>
      <HeadFact icon="globe">
        <a href={pagePath(page.id)}>{page.name}</a>
        {group ? ` / ${group.name}` : null}
      </HeadFact>
    </HeadFacts>
  );
}

/** Causes of a status that is not operational, with links. */
function Causes({ component, causes }: Pick<ComponentDetailProps, "component" | "causes">) {
  const { status } = component;
  const effective = status === "operational" ? [] : effectiveCauses(component, causes);
  const others = otherCauses(causes).filter((each) => !effective.includes(each));
  if (effective.length + others.length === 0) return null;
  return (
    <Notice tone={STATUS_TONES[status]}>
      <b>{STATUS_WORDS[status]}</b>
      {effective.length === 0 ? null : (
        <>
          {" "}
          <CauseList causes={effective} />
        </>
      )}
      .
      {others.length === 0 ? null : (
        <>
          {" "}
          Also <CauseList causes={others} />.
        </>
      )}
      {effective.length + others.length > 1
        ? " The component is operational again when all of these have ended."
        : null}
    </Notice>
  );
}

function Details({ component, state, role, now }: ComponentDetailProps) {
  const { id, groupId, showcase, showLatency, startDate } = component;
  const shown = [
    ...(showcase ? ["uptime history"] : []),
    ...(showLatency ? ["response times"] : []),
  ];
  return (
    <DetailCard
      title="Details"
      liveId="component-details"
      end={roleAllows(role, "admin") ? <a href={`#${SETTINGS_ID}`}>Edit</a> : undefined}
      isFlush
    >
      <Facts
        items={[
          {
            label: "Group",
            value: state.context.groups.find((group) => group.id === groupId)?.name ?? "None",
          },
          { label: "Shown", value: capitalised(shown.join(", ") || "status only") },
          ...(startDate === null ? [] : [{ label: "Uptime from", value: shortDay(startDate) }]),
          ...(component.tags.length === 0
            ? []
            : [{ label: "Tags", value: <ComponentTags tags={component.tags} />, isWide: true }]),
          {
            label: "Added",
            value: <RelativeTime at={toIso(component.createdAt)} now={now} />,
          },
          { label: "Reference", value: <code>{component.ref}</code> },
          { label: "Id", value: <code>{id}</code>, isWide: true },
        ]}
      />
    </DetailCard>
  );
}

/** Form for the settings of a component. The status has its own form. */
function Settings({ component, state }: Pick<ComponentDetailProps, "component" | "state">) {
  return (
    <Section title="Settings" id={SETTINGS_ID}>
      <Form action={componentPath(component.id)} hidden={state.hidden}>
        {component.managedBy === "apply" ? <ManagedByFile what="component" /> : null}
        <FormFields form={COMPONENT_FORM} state={state} />
        <Actions>
          <Button>Save changes</Button>
        </Actions>
      </Form>
    </Section>
  );
}
