import { renderToString } from "preact-render-to-string";
import type { ComponentChildren } from "preact";
import type { Incident } from "../../features/incidents/wire";
import type { Maintenance } from "../../features/maintenance/model";
import { STATUS_WORDS } from "../../ui/labels";
import { moreThan } from "../text";
import type { ShownText, TextBudget } from "../text-budget";
import { INCIDENT_WORDS, MAINTENANCE_WORDS } from "../words";

/** Maximum length of the updates of an entry in Markdown, in UTF-16 units. The newest may exceed it. */
const UPDATES_MAX_LENGTH = 20_000;

/** Maximum number of components named by an entry and by each update; the others are counted. */
const NAMES_SHOWN = 24;

const UPDATE_WORDS = { ...INCIDENT_WORDS, ...MAINTENANCE_WORDS };

/** Writes an ISO 8601 instant for readers of a page. */
export type TimeOf = (iso: string) => string;

interface Update {
  id: string;
  status: keyof typeof UPDATE_WORDS;
  body: string;
  display_at: string;
}

/** Renders an incident for a feed: its post-mortem, if any, and its updates, newest first. */
export function incidentContent(incident: Incident, budget: TextBudget, timeOf: TimeOf): string {
  const { components, postmortem, updates, url, truncated } = incident;
  return renderToString(
    <>
      <Affected components={components} isTruncated={truncated} />
      {postmortem?.published_at ? (
        <FeedText
          title="Post-mortem"
          at={postmortem.published_at}
          text={budget.fitOrBegin(postmortem)}
          url={url}
          timeOf={timeOf}
        />
      ) : null}
      <Updates url={url} updates={updates} budget={budget} timeOf={timeOf}>
        {(update) => <NamedComponents components={update.components} isTruncated={truncated} />}
      </Updates>
    </>,
  );
}

/** Renders a maintenance for a feed: its planned times and its updates, newest first. */
export function maintenanceContent(
  maintenance: Maintenance,
  budget: TextBudget,
  timeOf: TimeOf,
): string {
  const { components, truncated, updates, url } = maintenance;
  const { scheduled_for: from, scheduled_until: until } = maintenance;
  return renderToString(
    <>
      <p>
        Planned from <time dateTime={from}>{timeOf(from)}</time> until{" "}
        <time dateTime={until}>{timeOf(until)}</time>
      </p>
      <Affected components={components} isTruncated={truncated} />
      <Updates url={url} updates={updates} budget={budget} timeOf={timeOf} />
    </>,
  );
}

function Affected(props: {
  components: readonly { name: string }[];
  isTruncated?: boolean | undefined;
}) {
  const { components, isTruncated } = props;
  if (components.length === 0) return null;
  const names = components.slice(0, NAMES_SHOWN).map(({ name }) => name);
  return (
    <p>
      Affected: {names.join(", ")}
      {moreThan(components.length, NAMES_SHOWN, isTruncated)}
    </p>
  );
}

function Updates<T extends Update>(props: {
  url: string;
  updates: readonly T[];
  budget: TextBudget;
  timeOf: TimeOf;
  children?: (update: T) => ComponentChildren;
}) {
  const { url, updates } = props;
  const shown = newest(updates, props.budget);
  return (
    <>
      {shown.map(({ update, text }) => (
        <FeedText
          key={update.id}
          title={UPDATE_WORDS[update.status]}
          at={update.display_at}
          text={text}
          url={url}
          timeOf={props.timeOf}
        >
          {props.children?.(update)}
        </FeedText>
      ))}
      {shown.length < updates.length ? (
        <p>
          <a href={url}>Earlier updates</a>
        </p>
      ) : null}
    </>
  );
}

/** Text with its title and time. */
function FeedText(props: {
  title: string;
  at: string;
  text: ShownText;
  url: string;
  timeOf: TimeOf;
  children?: ComponentChildren;
}) {
  const { text } = props;
  return (
    <>
      <p>
        <small>
          <time dateTime={props.at}>{props.timeOf(props.at)}</time>
        </small>
        <br />
        <strong>{props.title}</strong>
      </p>
      {"html" in text ? (
        <div dangerouslySetInnerHTML={{ __html: text.html }} />
      ) : (
        <p>
          {text.words} <a href={props.url}>Read on</a>
        </p>
      )}
      {props.children}
    </>
  );
}

/** Components of an update with their statuses. */
function NamedComponents(props: {
  components: Incident["updates"][number]["components"];
  isTruncated: boolean | undefined;
}) {
  const { components, isTruncated } = props;
  if (components.length === 0) return null;
  const more = moreThan(components.length, NAMES_SHOWN, isTruncated).trim();
  return (
    <ul>
      {components.slice(0, NAMES_SHOWN).map(({ id, name, new_status: status }) => (
        <li key={id}>
          {name}: {STATUS_WORDS[status]}
        </li>
      ))}
      {more === "" ? null : <li>{more}</li>}
    </ul>
  );
}

/** Returns the newest updates that fit the entry and the feed, but at least the first words of one. */
function newest<T extends Update>(
  updates: readonly T[],
  budget: TextBudget,
): { update: T; text: ShownText }[] {
  const shown: { update: T; text: ShownText }[] = [];
  let length = 0;
  for (const update of updates) {
    length += update.body.length;
    const isFirst = shown.length === 0;
    if (!isFirst && length > UPDATES_MAX_LENGTH) break;
    const text = isFirst ? budget.fitOrBegin(update) : budget.fit(update);
    if (!text) break;
    shown.push({ update, text });
  }
  return shown;
}
