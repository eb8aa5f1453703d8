import { type Role, roleAllows } from "../../domain/role";
import { pathsOf } from "../../public/page-paths";
import { MarkdownText } from "../../public/text";
import { INCIDENT_WORDS } from "../../public/words";
import {
  Actions,
  Button,
  ButtonLink,
  Card,
  Columns,
  Fold,
  Form,
  Notice,
  PageHead,
  RelativeTime,
  Section,
} from "../../ui";
import type { StateOf } from "../forms/form";
import { INCIDENTS_PATH } from "../paths";
import { UpdateForm } from "../timeline/update-form";
import { UpdateTimeline } from "../timeline/update-timeline";
import { IncidentFacts } from "./facts";
import { UPDATE_FORM } from "./forms";
import { pathsOfIncident } from "./incident-paths";
import type { IncidentView } from "./incident-view";

interface IncidentDetailProps {
  nextUpdate: StateOf<typeof UPDATE_FORM>;
  role: Role;
  /** Id of the update after which the timeline starts; undefined for the newest part. */
  before: string | undefined;
  /** Unix ms. */
  now: number;
}

/** One incident: form for the next update, timeline and properties. */
export function IncidentDetail({ nextUpdate, role, before, now }: IncidentDetailProps) {
  const view = nextUpdate.context;
  const { incident, authors } = view;
  const paths = pathsOfIncident(incident.id);
  const canWrite = roleAllows(role, "editor");
  return (
    <>
      <PageHead
        title={incident.name}
        crumbs={[{ href: INCIDENTS_PATH, label: "Incidents" }]}
        actions={<DetailActions view={view} canWrite={canWrite} />}
      />
      {incident.draft ? <DraftNotice id={incident.id} canWrite={canWrite} /> : null}
      <Columns aside={<IncidentFacts view={view} now={now} />}>
        {canWrite ? <NextUpdate state={nextUpdate} /> : null}
        <UpdateTimeline
          updates={incident.updates}
          words={INCIDENT_WORDS}
          doneStatus="resolved"
          authors={authors}
          home={paths.home}
          before={before}
          editPath={canWrite ? paths.update : undefined}
          now={now}
        />
        <Postmortem view={view} canWrite={canWrite} now={now} />
      </Columns>
    </>
  );
}

/** Form for the next update; folded for a resolved incident unless something was typed. */
function NextUpdate({ state }: { state: StateOf<typeof UPDATE_FORM> }) {
  const { incident } = state.context;
  const form = (
    <UpdateForm
      form={UPDATE_FORM}
      // The submitted form says which status its author saw, so that it cannot revert a newer one.
      state={{ ...state, hidden: { ...state.hidden, seen_status: incident.status } }}
      action={pathsOfIncident(incident.id).updates}
      enter={{}}
    >
      {incident.draft ? <Button>Add to draft</Button> : undefined}
    </UpdateForm>
  );
  if (incident.status !== "resolved") return <Card title="Next update">{form}</Card>;
  const { values, errors, notice } = state;
  const isOpen = values.body !== "" || notice !== undefined || Object.keys(errors).length > 0;
  return (
    <Card>
      <Fold title="Add an update, or reopen the incident" isOpen={isOpen}>
        {form}
      </Fold>
    </Card>
  );
}

function DetailActions({ view, canWrite }: { view: IncidentView; canWrite: boolean }) {
  const { incident, page } = view;
  const paths = pathsOfIncident(incident.id);
  return (
    <>
      {incident.draft ? null : (
        <ButtonLink href={pathsOf(page.slug).incident(incident.id)} opensTab>
          View page
        </ButtonLink>
      )}
      {canWrite ? (
        <>
          <ButtonLink href={paths.edit}>Edit</ButtonLink>
          <ButtonLink href={paths.delete} kind="danger" dialog>
            Delete
          </ButtonLink>
        </>
      ) : null}
    </>
  );
}

function DraftNotice({ id, canWrite }: { id: string; canWrite: boolean }) {
  const paths = pathsOfIncident(id);
  return (
    <Notice tone="degraded" title="This is a draft">
      <p>
        Only signed-in users see this draft. Publishing it changes component statuses and sends
        notifications.
      </p>
      {canWrite ? (
        <Form action={paths.publish}>
          <Actions>
            <Button kind="primary">Publish incident</Button>
            <Button previewAction={`${paths.publish}/preview`}>Preview</Button>
          </Actions>
        </Form>
      ) : null}
    </Notice>
  );
}

function Postmortem({
  view,
  canWrite,
  now,
}: {
  view: IncidentView;
  canWrite: boolean;
  now: number;
}) {
  const { postmortem, id } = view.incident;
  if (!postmortem) return canWrite ? <NoPostmortem id={id} /> : null;
  const { body, published_at: publishedAt } = postmortem;
  return (
    <Section
      title="Post-mortem"
      actions={
        canWrite ? (
          <ButtonLink href={pathsOfIncident(id).postmortem}>Edit post-mortem</ButtonLink>
        ) : undefined
      }
    >
      <p class="muted">
        {publishedAt === null ? (
          "Not published yet: only signed-in users see the post-mortem."
        ) : (
          <>
            Published <RelativeTime at={publishedAt} now={now} />
          </>
        )}
      </p>
      <MarkdownText source={body} topHeading={3} />
    </Section>
  );
}

function NoPostmortem({ id }: { id: string }) {
  return (
    <Section
      title="Post-mortem"
      actions={<ButtonLink href={pathsOfIncident(id).postmortem}>Write post-mortem</ButtonLink>}
    >
      <p class="muted">
        No post-mortem yet. It explains what happened, why, and what will prevent it.
      </p>
    </Section>
  );
}
