import type { ComponentChildren } from "preact";
import type { ComponentStatus, Tone } from "../../../base/status";
import { MINUTE_MS } from "../../../base/time";
import { zoneLabel } from "../../../base/zones";
import type { Reader } from "../../../db/statements";
import { type Author, authorsOf } from "../../../events/audit-search";
import { MarkdownText, Names } from "../../../public/text";
import { Facts, Shape, STATUS_WORDS, StatusLabel, Timeline } from "../../../ui/blocks";
import { Button } from "../../../ui/buttons";
import { Checkbox } from "../../../ui/choices";
import { DetailCard, DetailRow } from "../../../ui/detail";
import { Actions, Form } from "../../../ui/form";
import { FormFields } from "../../../ui/forms/fields";
import type { FormDefinition, FormState, ValuesOf } from "../../../ui/forms/form";
import { type PageComponents, readPageComponents } from "../../../ui/forms/object-fields";
import { componentPath } from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { Pagination } from "../../../ui/navigation";
import { RelativeTime, useZone } from "../../../ui/times";
import { getPage } from "../../pages/pages";
import type { PageRow } from "../../pages/store";

/** Limits of one screen: number of updates, and length of their texts in UTF-16 units. */
const UPDATES_SHOWN = 50;

const TEXT_SHOWN = 100_000;

/** Update of an incident or a maintenance, as the API presents it. */
interface Update<Status extends string> {
  id: string;
  status: Status;
  body: string;
  display_at: string;
  created_at: string;
  components?: readonly {
    id: string;
    name: string;
    old_status: ComponentStatus;
    new_status: ComponentStatus;
  }[];
}

interface UpdateTimelineProps<Status extends string> {
  /** Newest first. */
  updates: readonly Update<Status>[];
  /** Labels of the statuses. */
  words: Readonly<Record<Status, string>>;
  /** Returns the tone of an update by its status. */
  toneOf(status: Status): Tone;
  /** Components that have a screen. Others were deleted. */
  components: readonly { id: string }[];
  /** Authors by update id, if known. */
  authors: ReadonlyMap<string, Author>;
  /** Link that stands for the server, which wrote an update for a monitor. */
  monitor?: ComponentChildren;
  /** Path of the screen. */
  home: string;
  /** Id of the update after which the timeline starts; undefined for the newest part. */
  before: string | undefined;
  /** Returns the path of an update's form; undefined if the user may not edit updates. */
  editPath?: ((updateId: string) => string) | undefined;
  /** Unix ms. */
  now: number;
}

/** One part of a timeline of updates, newest first, with links to its other parts. */
export function UpdateTimeline<Status extends string>(props: UpdateTimelineProps<Status>) {
  const { updates, words, toneOf, home, before, now } = props;
  const { shown, nextBefore, isContinued } = timelinePart(updates, before);
  const onPage = new Set(props.components.map(({ id }) => id));
  return (
    <DetailCard
      title="Timeline"
      liveId="timeline"
      end={<span class="muted">Newest first · {zoneLabel(useZone())}</span>}
    >
      <Timeline
        now={now}
        items={shown.map((update) => ({
          key: update.id,
          title: words[update.status],
          at: update.display_at,
          tone: toneOf(update.status),
          by: <UpdateNote {...props} update={update} />,
          body: (
            <>
              <MarkdownText source={update.body} topHeading={3} />
              <Changes components={update.components ?? []} onPage={onPage} />
            </>
          ),
        }))}
      />
      <Pagination
        newestHref={isContinued ? home : undefined}
        olderHref={nextBefore === undefined ? undefined : `${home}?before=${nextBefore}`}
      />
    </DetailCard>
  );
}

interface ChangesProps extends Pick<Required<Update<string>>, "components"> {
  /** Ids of the components that have a screen. */
  onPage: ReadonlySet<string>;
}

/** Component statuses that an update set; nothing for an empty list. */
function Changes({ components, onPage }: ChangesProps) {
  if (components.length === 0) return null;
  return (
    <ul class="timeline-changes">
      {components.map(({ id, name, old_status: from, new_status: to }) => (
        <li key={id}>
          {onPage.has(id) ? (
            <a dir="auto" href={componentPath(id)}>
              {name}
            </a>
          ) : (
            <bdi>{name}</bdi>
          )}{" "}
          {from === to ? null : (
            <span class="muted">
              {STATUS_WORDS[from]} <span aria-hidden="true">→</span>
              <span class="visually-hidden">, now</span>
            </span>
          )}{" "}
          <StatusLabel status={to} />
        </li>
      ))}
    </ul>
  );
}

/**
 * Author of an update, the time of writing if it differs from the effective time, and the link to
 * its form.
 */
function UpdateNote<Status extends string>(
  props: UpdateTimelineProps<Status> & { update: Update<Status> },
) {
  const { update, authors, editPath, monitor, now } = props;
  const { id, body, created_at: createdAt, display_at: displayAt } = update;
  const author = authors.get(id);
  const isMoved = Math.abs(Date.parse(createdAt) - Date.parse(displayAt)) >= MINUTE_MS;
  if (!author && !isMoved && !editPath) return null;
  const parts = [
    author ? describeAuthor(author, monitor) : null,
    isMoved ? (
      <>
        written <RelativeTime at={createdAt} now={now} />
      </>
    ) : null,
    editPath ? (
      <a href={editPath(id)}>
        Edit
        <span class="visually-hidden"> the update “{body.slice(0, 40)}”</span>
      </a>
    ) : null,
  ].filter((part) => part !== null);
  return (
    <>
      {parts.map((part, index) => (
        <span key={index}>
          {index > 0 ? " · " : ""}
          {part}
        </span>
      ))}
    </>
  );
}

function describeAuthor({ kind, label }: Author, monitor: ComponentChildren): ComponentChildren {
  if (kind === "system") return monitor ? <>By the monitor {monitor}</> : "Automatic";
  if (kind === "cli") return "By the command line";
  return kind === "key" ? `By the API key “${label}”` : label;
}

/**
 * Returns the newest updates, or those after the update with the id `before`; at least one, however
 * long. The limits matter because rendering thousands of long updates would block the server for
 * seconds.
 */
function timelinePart<Item extends { id: string; body: string }>(
  updates: readonly Item[],
  before: string | undefined,
) {
  const from = updates.findIndex(({ id }) => id === before) + 1;
  const shown: Item[] = [];
  let room = TEXT_SHOWN;
  for (const update of updates.slice(from, from + UPDATES_SHOWN)) {
    room -= update.body.length;
    if (room < 0 && shown.length > 0) break;
    shown.push(update);
  }
  const isMore = from + shown.length < updates.length;
  return { shown, nextBefore: isMore ? shown.at(-1)?.id : undefined, isContinued: from > 0 };
}

interface UpdateFormProps<Body, Context, Fields> {
  title: string;
  /** Menu at the end of the title's line. */
  menu?: ComponentChildren;
  /** Form without the field `notify`, which the foot has. */
  fields: FormDefinition<Body, Context, Fields>;
  state: FormState<ValuesOf<Fields> & { readonly notify: boolean }, Context>;
  /** Path that the form is posted to. Its preview is at `preview` below. */
  action: string;
  /** Label of the field `notify`, such as "Notify 3 webhooks". */
  notifyLabel: string;
  /** Sentence about the subscribers who get a mail. */
  audience?: ComponentChildren;
  /** Main button; by default "Publish update". */
  children?: ComponentChildren;
}

/** Form for the next update of an incident or a maintenance, filling a card. */
export function UpdateForm<Body, Context, Fields>(props: UpdateFormProps<Body, Context, Fields>) {
  const { title, menu, fields, state, action, notifyLabel, audience, children } = props;
  return (
    <Form action={action} hidden={state.hidden} enter={{}} isComposer>
      <div class="detail-head">
        <h2>{title}</h2>
        {menu}
      </div>
      <div class="form detail-body">
        <FormFields form={fields} state={state} />
      </div>
      <div class="composer-foot">
        <Checkbox
          label={notifyLabel}
          name="notify"
          hint={audience}
          isChecked={state.values.notify}
          error={state.errors["notify"]}
        />
        <Actions>
          <Button previewAction={`${action}/preview`}>
            <Icon name="eye" />
            Preview
          </Button>
          {children ?? <Button kind="primary">Publish update</Button>}
        </Actions>
      </div>
    </Form>
  );
}

interface Fact {
  label: string;
  value: ComponentChildren;
}

/** Properties of an incident or a maintenance: `facts`, then its id. */
export function TimelineFacts(props: {
  facts: readonly Fact[];
  id: string;
  /** Path of the form; undefined if the user may not edit. */
  editPath: string | undefined;
}) {
  const { facts, id, editPath } = props;
  return (
    <DetailCard
      title="Details"
      liveId="details"
      end={editPath === undefined ? undefined : <a href={editPath}>Edit</a>}
      isFlush
    >
      <Facts items={[...facts, { label: "Id", value: <code>{id}</code> }]} />
    </DetailCard>
  );
}

/** Returns a fact for each time of a table by label, without those that are null. */
export function timeFacts(times: Readonly<Record<string, string | null>>, now: number): Fact[] {
  return Object.entries(times).flatMap(([label, iso]) =>
    iso === null ? [] : [{ label, value: <RelativeTime at={iso} now={now} /> }],
  );
}

/** Related data that the screens of an incident or a maintenance show. */
export interface TimelineView extends PageComponents {
  page: PageRow;
  /** Authors by update id, if known. */
  authors: ReadonlyMap<string, Author>;
}

/** Reads the related data. `actions` are the audit log actions that write an update. */
export function readTimelineView(
  reader: Reader,
  record: {
    row: { id: string; pageId: string };
    updates: readonly { id: string; createdAt: number }[];
  },
  actions: readonly string[],
): TimelineView {
  const { id, pageId } = record.row;
  // Ids sort by the time of writing.
  const written = record.updates.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    page: getPage(reader, pageId),
    ...readPageComponents(reader, pageId),
    authors: authorsOf(reader, id, actions, written),
  };
}

/** Maximum number of components in the card. */
const SHOWN_MAX = 100;

interface AffectedProps {
  /** Title of the card; by default "Affects". */
  title?: string;
  components: readonly {
    id: string;
    name: string;
    tone: Tone;
    /** Effect on the component. */
    note: string;
    /** False for a deleted component, which has no screen. */
    hasScreen: boolean;
  }[];
  /** Sentence in the place of an empty list. */
  none: string;
}

/** Card with the components of an incident or a maintenance. */
export function Affected({ title = "Affects", components, none }: AffectedProps) {
  const more = components.length - SHOWN_MAX;
  return (
    <DetailCard title={title} liveId="affected" isFlush>
      {components.length === 0 ? (
        <p class="muted detail-body">{none}</p>
      ) : (
        <ul>
          {components.slice(0, SHOWN_MAX).map(({ id, name, tone, note, hasScreen }) => (
            <DetailRow
              key={id}
              shape={<Shape tone={tone} />}
              {...(hasScreen ? { href: componentPath(id) } : {})}
              title={name}
              note={note}
            />
          ))}
        </ul>
      )}
      {more > 0 ? <p class="muted detail-body">And {more.toLocaleString("en")} more.</p> : null}
    </DetailCard>
  );
}

/** Maximum number of components that the note of an entry names; further ones are counted. */
const NAMES_SHOWN = 3;

/** Note of an entry with its page, if the list shows several, and its first components. */
export function EntryNote(props: {
  pageName: string | undefined;
  record: { components: readonly { name: string }[]; isTruncated?: boolean | undefined };
}) {
  const { pageName, record } = props;
  const { components, isTruncated } = record;
  return (
    <>
      {pageName === undefined ? null : `${pageName} · `}
      {components.length === 0 ? (
        "No components"
      ) : (
        <Names
          names={components.map(({ name }) => name)}
          max={NAMES_SHOWN}
          isTruncated={isTruncated}
        />
      )}
    </>
  );
}
