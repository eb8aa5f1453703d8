import type { Incident } from "../../features/incidents";
import {
  Actions,
  Button,
  ButtonLink,
  Form,
  ErrorSummary,
  PageHead,
  FormNotice,
  TextArea,
} from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { INCIDENTS_PATH } from "../paths";
import { versionField } from "../stale";
import { pathsOfIncident } from "./incident-paths";

const LABELS = { body: "Post-mortem" };

/** Intents of the form's buttons. Any other value leaves the publication unchanged. */
export const PUBLISH = "publish";
export const WITHDRAW = "withdraw";

/** Outline of a new post-mortem. */
export const OUTLINE = `## What happened

## What was affected

## Why it happened

## What we do so that it does not happen again
`;

/** Editor of a post-mortem, with buttons for preview and publication. */
export function PostmortemEditor(props: {
  incident: Incident;
  body: string;
  complaints: Complaints;
  stale: string | undefined;
}) {
  const { incident, body, stale } = props;
  const wrong = wording(props.complaints, LABELS);
  const paths = pathsOfIncident(incident.id);
  const isPublished = Boolean(incident.postmortem?.published_at);
  return (
    <>
      <PageHead
        title="Post-mortem"
        crumbs={[
          { href: INCIDENTS_PATH, label: "Incidents" },
          { href: paths.home, label: incident.name },
        ]}
      >
        {describe(incident)}
      </PageHead>
      <Form action={paths.postmortem} hidden={versionField(incident)}>
        {stale === undefined ? null : <FormNotice>{stale}</FormNotice>}
        <ErrorSummary errors={wrong.all} />
        <TextArea
          label={LABELS.body}
          name="body"
          value={body}
          hint="Markdown, up to 50,000 characters."
          error={wrong.about("body")}
          isLong
          required
        />
        <Actions>
          {isPublished ? (
            <>
              <Button kind="primary">Save changes</Button>
              <Button name="do" value={WITHDRAW}>
                Save and withdraw
              </Button>
            </>
          ) : (
            <>
              <Button kind="primary" name="do" value={PUBLISH}>
                Publish post-mortem
              </Button>
              <Button>Save draft</Button>
            </>
          )}
          <Button previewAction={paths.previewPostmortem}>Preview</Button>
          <ButtonLink href={paths.home}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

function describe({ draft, postmortem }: Incident): string {
  if (draft) return "The incident is a draft: the post-mortem is seen once both are published.";
  return postmortem?.published_at
    ? "Published: the page shows saved changes at once."
    : "Only signed-in users see the post-mortem until you publish it.";
}
