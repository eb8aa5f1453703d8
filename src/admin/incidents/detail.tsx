import { roleAllows, type Role } from "../../domain/role";
import {
  Actions,
  Button,
  ButtonLink,
  Columns,
  Form,
  RelativeTime,
  Notice,
  PageHead,
  Section,
} from "../../ui";
import { pathsOf } from "../../public/page-paths";
import { MarkdownText } from "../../public/text";
import { INCIDENTS_PATH } from "../paths";
import { OtherParts, timelinePart } from "../timeline-part";
import { IncidentFacts } from "./facts";
import { pathsOfIncident } from "./incident-paths";
import type { IncidentView } from "./incident-view";
import { UpdateForm, type UpdateFormState } from "./update-form";
import { UpdateTimeline } from "./update-timeline";

interface IncidentDetailProps {
  view: IncidentView;
  role: Role;
  form: UpdateFormState;
  /** Id of the update after which the timeline starts; undefined for the newest part. */
  before: string | undefined;
  /** Unix ms. */
  now: number;
}

/** One incident: form for the next update, timeline and properties. */
export function IncidentDetail({ view, role, form, before, now }: IncidentDetailProps) {
  const { incident, authors } = view;
  const part = timelinePart(incident.updates, before);
  const mayWrite = roleAllows(role, "editor");
  return (
    <>
      <PageHead
        title={incident.name}
        crumbs={[{ href: INCIDENTS_PATH, label: "Incidents" }]}
        actions={<DetailActions view={view} mayWrite={mayWrite} />}
      />
      {incident.draft ? <DraftNotice id={incident.id} mayWrite={mayWrite} /> : null}
      <Columns aside={<IncidentFacts view={view} now={now} />}>
        {mayWrite ? <UpdateForm view={view} state={form} /> : null}
        <Section title="Timeline">
          <UpdateTimeline
            incident={{ ...incident, updates: part.shown }}
            authors={authors}
            mayEdit={mayWrite}
            now={now}
          />
          <OtherParts home={pathsOfIncident(incident.id).home} part={part} />
        </Section>
        <Postmortem view={view} mayWrite={mayWrite} now={now} />
      </Columns>
    </>
  );
}

function DetailActions({ view, mayWrite }: { view: IncidentView; mayWrite: boolean }) {
  const { incident, page } = view;
  const paths = pathsOfIncident(incident.id);
  return (
    <>
      {incident.draft ? null : (
        <ButtonLink href={pathsOf(page.slug).incident(incident.id)} opensTab>
          View page
        </ButtonLink>
      )}
      {mayWrite ? (
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

function DraftNotice({ id, mayWrite }: { id: string; mayWrite: boolean }) {
  const paths = pathsOfIncident(id);
  return (
    <Notice tone="warning" title="This is a draft">
      <p>
        Only signed-in users see this draft. Component statuses change and notifications are sent
        when you publish the incident.
      </p>
      {mayWrite ? (
        <Form action={paths.publish}>
          <Actions>
            <Button kind="primary">Publish incident</Button>
            <Button previewAction={paths.previewPublish}>Preview</Button>
          </Actions>
        </Form>
      ) : null}
    </Notice>
  );
}

function Postmortem({
  view,
  mayWrite,
  now,
}: {
  view: IncidentView;
  mayWrite: boolean;
  now: number;
}) {
  const { postmortem, id } = view.incident;
  if (!postmortem) return mayWrite ? <NoPostmortem id={id} /> : null;
  const { body, published_at: publishedAt } = postmortem;
  return (
    <Section
      title="Post-mortem"
      actions={
        mayWrite ? (
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
      <p class="muted">What happened, why, and what is done about it. None is written yet.</p>
    </Section>
  );
}
