import type { GroupRow } from "../../features/components";
import type { PageRow } from "../../features/pages";
import {
  Actions,
  Button,
  ButtonLink,
  Form,
  ErrorSummary,
  PageHead,
  RadioList,
  FormNotice,
  TextArea,
} from "../../ui";
import { wording } from "../field-errors";
import { NameField } from "../name-field";
import { COMPONENTS_PATH, componentsOfPagePath, groupPath } from "../paths";
import { type FormRejection, versionField } from "../stale";
import { GROUP_LABELS as LABELS, type GroupValues } from "./group-values";
import { ManagedByFile } from "./managed";

const COLLAPSE_CHOICES = [
  { value: "expanded", label: "Open", hint: "All components are visible." },
  {
    value: "collapsed_unless_incident",
    label: "Open while something is wrong",
    hint: "Closed while all components are operational.",
  },
  {
    value: "collapsed",
    label: "Closed",
    hint: "Only the worst status is visible until a reader opens the group.",
  },
];

interface GroupFormProps {
  page: PageRow;
  values: GroupValues;
  rejection?: FormRejection | undefined;
}

/** Components → Add group. */
export function NewGroup({ formToken, ...props }: GroupFormProps & { formToken: string }) {
  const title = "Add group";
  return (
    <>
      <GroupHead title={title} page={props.page} />
      <Form
        action={`${COMPONENTS_PATH}/groups/new`}
        hidden={{ form: formToken, page: props.page.id }}
      >
        <GroupFields {...props} />
        <Actions>
          <Button kind="primary">Add group</Button>
          <ButtonLink href={componentsOfPagePath(props.page.slug)}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

/** One group and its settings. */
export function GroupEdit({ group, ...props }: GroupFormProps & { group: GroupRow }) {
  return (
    <>
      <GroupHead
        title={group.name}
        page={props.page}
        actions={
          <ButtonLink href={`${groupPath(group.id)}/delete`} kind="danger" dialog>
            Delete
          </ButtonLink>
        }
      />
      <Form action={groupPath(group.id)} hidden={versionField(group)}>
        {group.managedBy === "apply" ? <ManagedByFile what="group" /> : null}
        <GroupFields {...props} />
        <Actions>
          <Button kind="primary">Save changes</Button>
          <ButtonLink href={componentsOfPagePath(props.page.slug)}>Cancel</ButtonLink>
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

function GroupFields({ values, rejection }: GroupFormProps) {
  const wrong = wording(rejection?.complaints ?? {}, LABELS);
  return (
    <>
      {rejection?.stale === undefined ? null : <FormNotice>{rejection.stale}</FormNotice>}
      <ErrorSummary errors={wrong.all} />
      <NameField
        value={values.name}
        hint="What the components have in common, such as “Europe” or “Payments”."
        wrong={wrong}
      />
      <TextArea
        label={LABELS.description}
        name="description"
        value={values.description}
        hint="Optional. Shown in the group, above the components."
        error={wrong.about("description")}
        rows={2}
        maxlength={1_000}
      />
      <RadioList
        legend={LABELS.collapse}
        name="collapse"
        options={COLLAPSE_CHOICES}
        value={values.collapse}
        error={wrong.about("collapse")}
      />
    </>
  );
}
