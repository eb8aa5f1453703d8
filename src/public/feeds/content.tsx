import { renderToString } from "preact-render-to-string";
import type { ComponentChildren } from "preact";
import type { Incident } from "../../features/incidents";
import type { Maintenance } from "../../features/maintenance";
import { exactTime, STATUS_WORDS } from "../../ui";
import { renderMarkdown } from "../markdown";
import { INCIDENT_WORDS, MAINTENANCE_WORDS } from "../words";

/** How much Markdown of its updates one entry holds, in UTF-16 units; the newest update is whole. */
const UPDATES_MAX_LENGTH = 20_000;

const UPDATE_WORDS = { ...INCIDENT_WORDS, ...MAINTENANCE_WORDS };

interface Update {
  id: string;
  status: keyof typeof UPDATE_WORDS;
  body: string;
  display_at: string;
}

/** What a feed says of an incident: its post-mortem if there is one, and its updates, newest first. */
export function incidentContent({ components, postmortem, updates, url }: Incident): string {
  return renderToString(
    <>
      <Affected components={components} />
      {postmortem?.published_at ? (
        <Told title="Post-mortem" at={postmortem.published_at} body={postmortem.body} />
      ) : null}
      <Updates url={url} updates={updates}>
        {(update) => <Named components={update.components} />}
      </Updates>
    </>,
  );
}

/** What a feed says of a maintenance: when it is planned, and its updates, newest first. */
export function maintenanceContent(maintenance: Maintenance): string {
  const { components, scheduled_for: from, scheduled_until: until, updates, url } = maintenance;
  return renderToString(
    <>
      <p>
        Planned from <time dateTime={from}>{exactTime(from)}</time> until{" "}
        <time dateTime={until}>{exactTime(until)}</time>
      </p>
      <Affected components={components} />
      <Updates url={url} updates={updates} />
    </>,
  );
}

function Affected({ components }: { components: readonly { name: string }[] }) {
  if (components.length === 0) return null;
  return <p>Affected: {components.map(({ name }) => name).join(", ")}</p>;
}

function Updates<T extends Update>(props: {
  url: string;
  updates: readonly T[];
  children?: (update: T) => ComponentChildren;
}) {
  const shown = newest(props.updates);
  return (
    <>
      {shown.map((update) => (
        <Told
          key={update.id}
          title={UPDATE_WORDS[update.status]}
          at={update.display_at}
          body={update.body}
        >
          {props.children?.(update)}
        </Told>
      ))}
      {shown.length < props.updates.length ? (
        <p>
          <a href={props.url}>Earlier updates</a>
        </p>
      ) : null}
    </>
  );
}

function Told(props: { title: string; at: string; body: string; children?: ComponentChildren }) {
  return (
    <>
      <p>
        <small>
          <time dateTime={props.at}>{exactTime(props.at)}</time>
        </small>
        <br />
        <strong>{props.title}</strong>
      </p>
      <div dangerouslySetInnerHTML={{ __html: renderMarkdown(props.body) }} />
      {props.children}
    </>
  );
}

function Named({ components }: { components: Incident["updates"][number]["components"] }) {
  if (components.length === 0) return null;
  return (
    <ul>
      {components.map(({ id, name, new_status: status }) => (
        <li key={id}>
          {name}: {STATUS_WORDS[status]}
        </li>
      ))}
    </ul>
  );
}

function newest<T extends Update>(updates: readonly T[]): T[] {
  let length = 0;
  return updates.filter(({ body }, index) => {
    length += body.length;
    return index === 0 || length <= UPDATES_MAX_LENGTH;
  });
}
