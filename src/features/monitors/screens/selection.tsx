/*
 * Actions on the monitors that were selected in the list, some after a question. `addSelectionRoutes` is the entrance.
 * The message counts the monitors by result.
 */
import { Type } from "@sinclair/typebox";
import type { Actor } from "../../../base/actor";
import { runInSlices } from "../../../base/in-slices";
import { OneOf } from "../../../base/schema";
import { isPassive, type Tone } from "../../../base/status";
import { TAG_MAX, TAGS_MAX, TagText, withoutTag, withTag } from "../../../base/tags";
import { plural } from "../../../base/text";
import { composed, examine, validate } from "../../../base/validation";
import type { Ctx } from "../../../context";
import type { Reader, Tx } from "../../../db/statements";
import { seeOther } from "../../../http/answers";
import { type Form as SentForm, formBody } from "../../../http/form-body";
import { session } from "../../../http/operation";
import { actorOf, sessionOf } from "../../../http/request-context";
import { DialogForm } from "../../../ui/form";
import { choiceField, FormFields, textField } from "../../../ui/forms/fields";
import { defineForm, keptNotice, type StateOf } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { monitorPath, MONITORS_PATH, SELECTED_MONITORS_PATH } from "../../../ui/frame/paths";
import type { Screen, ScreenRequest } from "../../../ui/frame/render";
import type { Area } from "../../../ui/screens/area";
import { KEEPS_TYPED, screenOperation } from "../../../ui/screens/routes";
import { changeSelected, SELECTION_MAX, selectionError } from "../../../ui/screens/selection";
import { listWebhooksOnlyFor } from "../../webhooks/monitors";
import type { WebhookRow } from "../../webhooks/store";
import type { Monitoring } from "../monitoring";
import {
  acknowledgeMonitor,
  deleteMonitor,
  pauseMonitor,
  resumeMonitor,
  updateMonitor,
} from "../monitors";
import { getMonitorRecord } from "../records";
import { findMonitor, type MonitorRow } from "../store";
import { UpdateMonitorBody } from "../wire";
import { WebhooksLeft } from "./form-routes";
import { listMatchingIds, pathOfPart } from "./list";

/** Chosen monitors that are checked at the same time, in addition to due checks. */
const CHECKS_AT_ONCE = 10;

/** Numbers of monitors by result. */
interface Counts {
  done: number;
  /** Had the desired state already. */
  unchanged: number;
  /** Do not exist any more. */
  gone: number;
  /** Have the maximum number of tags. */
  full: number;
  /** Not resumed or checked, since this version cannot check their type. */
  unsupported: number;
  /** Not checked, since they are paused. */
  paused: number;
  /** Not checked, since they wait for heartbeats. */
  push: number;
  /** Not acknowledged, since they are not down. */
  notDown: number;
  /** Not reached, because a write failed. */
  left: number;
}

type Result = keyof Counts;

/** Change of one selected monitor. */
interface SelectionChange {
  change(ctx: Ctx, tx: Tx, row: MonitorRow, actor: Actor): Result;
  /** Words after "2 monitors are" for changed, unchanged and unreached monitors. */
  words: { done: string; already: string; left: string };
  /** True if a monitor that does not exist any more needs no change, as when a form is repeated. */
  isGoneFine?: boolean;
}

const doneIf = (isChanged: boolean): Result => (isChanged ? "done" : "unchanged");

/** Changes by the intent of their button. */
const CHANGES = {
  pause: {
    change: (ctx, tx, { id, version }, actor) =>
      doneIf(pauseMonitor(ctx, tx, id, actor).row.version !== version),
    words: { done: "paused", already: "paused already", left: "not paused" },
  },
  resume: {
    change: (ctx, tx, { id, type, version }, actor) =>
      type === "unsupported"
        ? "unsupported"
        : doneIf(resumeMonitor(ctx, tx, id, actor).row.version !== version),
    words: { done: "resumed", already: "running already", left: "not resumed" },
  },
  acknowledge: {
    change(ctx, tx, { id }, actor) {
      const { state, acknowledgement } = getMonitorRecord(tx, id).state;
      if (acknowledgement) return "unchanged";
      if (state !== "down") return "notDown";
      acknowledgeMonitor(ctx, tx, id, composed({}), actor);
      return "done";
    },
    words: { done: "acknowledged", already: "acknowledged already", left: "not acknowledged" },
  },
  delete: {
    change(ctx, tx, { id }, actor) {
      deleteMonitor(ctx, tx, id, actor);
      return "done";
    },
    words: { done: "deleted", already: "deleted already", left: "not deleted" },
    isGoneFine: true,
  },
} as const satisfies Record<string, SelectionChange>;

interface Message {
  tone: Tone;
  text: string;
}

const noCounts = (): Counts => ({
  done: 0,
  unchanged: 0,
  gone: 0,
  full: 0,
  unsupported: 0,
  paused: 0,
  push: 0,
  notDown: 0,
  left: 0,
});

/** Returns the change that adds or removes a tag. */
function tagChange(intent: "add" | "remove", tag: string): SelectionChange {
  const isAddition = intent === "add";
  return {
    change(ctx, tx, { id, tags, version }, actor) {
      const changed = isAddition ? withTag(tags, tag) : withoutTag(tags, tag);
      if (changed.length > TAGS_MAX) return "full";
      const body = validate(UpdateMonitorBody, { tags: changed });
      return doneIf(updateMonitor(ctx, tx, id, body, actor).row.version !== version);
    },
    words: isAddition
      ? { done: `tagged “${tag}”`, already: `tagged “${tag}” already`, left: "not tagged" }
      : {
          done: `no longer tagged “${tag}”`,
          already: `not tagged “${tag}”`,
          left: "still tagged",
        },
  };
}

/** Returns the monitors that exist, in the order of `ids`. */
function selectedMonitors(reader: Reader, ids: readonly string[]): MonitorRow[] {
  return ids.map((id) => findMonitor(reader, { id })).filter((row) => row !== undefined);
}

/** Changes monitors, each with its own audit row. */
async function changeMonitors(
  ctx: Ctx,
  ids: readonly string[],
  { change, words, isGoneFine = false }: SelectionChange,
  actor: Actor,
  write: <T>(change: (tx: Tx) => T) => Promise<T>,
): Promise<Message> {
  const { results, left } = await changeSelected(ids, write, (tx, id): Result => {
    const row = findMonitor(tx, { id });
    return row ? change(ctx, tx, row, actor) : isGoneFine ? "unchanged" : "gone";
  });
  const counts = { ...noCounts(), left };
  for (const result of results) counts[result] += 1;
  return messageOf(counts, words);
}

/**
 * Starts checks of monitors and returns without waiting for their results, which may take a minute.
 * Paused monitors and push monitors are counted, not checked.
 */
function checkMonitors(ctx: Ctx, monitoring: Monitoring, ids: readonly string[]): Message {
  const counts = noCounts();
  const rows: MonitorRow[] = [];
  for (const id of ids) {
    const row = findMonitor(ctx.db, { id });
    if (!row) counts.gone += 1;
    else if (isPassive(row.type)) counts.push += 1;
    else if (row.type === "unsupported") counts.unsupported += 1;
    else if (row.paused) counts.paused += 1;
    else rows.push(row);
  }
  counts.done = rows.length;
  const waiting = rows.values();
  for (let index = 0; index < CHECKS_AT_ONCE; index++) void checkEach(monitoring, waiting);
  return messageOf(counts, { done: "being checked", already: "", left: "not checked" });
}

async function checkEach(monitoring: Monitoring, rows: Iterable<MonitorRow>): Promise<void> {
  for (const { id } of rows) {
    // A check that cannot run, such as while the server stops, has no result to show.
    await Promise.allSettled([monitoring.checkNow(id)]);
  }
}

function messageOf(counts: Counts, words: SelectionChange["words"]): Message {
  const { done, unchanged, gone, full, unsupported, paused, push, notDown, left } = counts;
  const are = (count: number) => `${plural(count, "monitor")} ${count === 1 ? "is" : "are"}`;
  const texts = [
    done > 0 ? `${are(done)} ${words.done}.` : undefined,
    unchanged > 0 ? `${are(unchanged)} ${words.already}.` : undefined,
    paused > 0 ? `${are(paused)} paused and not checked.` : undefined,
    unsupported > 0
      ? `${plural(unsupported, "monitor")} ${unsupported === 1 ? "has" : "have"} a type that this version cannot check.`
      : undefined,
    push > 0
      ? `${plural(push, "monitor")} cannot be checked, since others report to them.`
      : undefined,
    notDown > 0 ? `${are(notDown)} not down.` : undefined,
    full > 0
      ? `${plural(full, "monitor")} ${full === 1 ? "has" : "have"} ${TAGS_MAX} tags, the maximum.`
      : undefined,
    gone > 0 ? `${plural(gone, "monitor")} no longer exist${gone === 1 ? "s" : ""}.` : undefined,
    left > 0
      ? `${are(left)} ${words.left}, because the change could not be saved. Try again.`
      : undefined,
  ];
  const hasFailed = left + gone + full + unsupported + paused + push + notDown > 0;
  const tone = hasFailed ? (done > 0 ? "degraded" : "major") : done > 0 ? "ok" : "maint";
  return { tone, text: texts.filter((text) => text !== undefined).join(" ") };
}

type Query = Readonly<Record<string, string | undefined>>;
type SentAt = ScreenRequest & { query: Query; body: SentForm };

const TagBody = Type.Object({ tag: TagText, action: OneOf(["add", "remove"] as const) });

/** Adds the routes that act on the monitors that were selected in the list. */
export function addSelectionRoutes(area: Area, deps: AdminDependencies) {
  const { ctx, flashes, monitoring, render } = deps;

  /** Returns the place in the list from which monitors were selected. */
  const backOf = (query: Query) => pathOfPart(ctx.db, query);

  function back({ requestContext, query }: SentAt, message: Message): Response {
    flashes.put(sessionOf(requestContext).id, message);
    return seeOther(backOf(query));
  }

  async function change(at: SentAt, ids: readonly string[], what: SelectionChange) {
    const { requestContext } = at;
    const message = await changeMonitors(ctx, ids, what, actorOf(requestContext), (run) =>
      deps.writeAs(requestContext, run),
    );
    return back(at, message);
  }

  /** Runs `act` with the selected ids, or goes back with the reason to reject them. */
  async function withSelected(at: SentAt, act: (ids: string[]) => Promise<Response>) {
    const ids =
      at.body.text("all") === "1"
        ? await runInSlices(listMatchingIds(ctx.db, at.query, SELECTION_MAX + 1))
        : [...new Set(at.body.all("id"))];
    const rejection = selectionError(ids, "monitor");
    return rejection === undefined ? act(ids) : back(at, { tone: "major", text: rejection });
  }

  /** Asks before something is done with the selected monitors that exist. */
  async function ask(
    at: SentAt,
    ids: readonly string[],
    screen: (monitors: readonly MonitorRow[], backPath: string) => Screen,
  ): Promise<Response> {
    const monitors = selectedMonitors(ctx.db, ids);
    if (monitors.length === 0) {
      return back(at, { tone: "major", text: "The selected monitors no longer exist." });
    }
    return render.screen(at, screen(monitors, backOf(at.query)));
  }

  const webhooksOf = (monitors: readonly MonitorRow[]) =>
    listWebhooksOnlyFor(ctx.db, new Set(monitors.map((row) => row.id)));

  function askForTag(
    at: SentAt,
    ids: readonly string[],
    state: StateOf<typeof TAG_FORM>,
    status = 200,
  ): Promise<Response> {
    return ask(at, ids, (monitors, backPath) => ({
      title: "Tag monitors",
      status,
      children: <TagSelected {...{ monitors, backPath, state }} />,
    }));
  }

  // A browser can open these addresses with GET, such as after signing in again.
  for (const path of ["/selected", "/selected/delete", "/selected/tag"] as const) {
    area.screen(path, () => ({ path: MONITORS_PATH }));
  }

  return area.routes
    .post(
      "/selected",
      (at) =>
        withSelected(at, async (ids) => {
          const intent = at.body.text("intent");
          switch (intent) {
            case "check":
              return back(at, checkMonitors(ctx, monitoring, ids));
            case "pause":
            case "resume":
            case "acknowledge":
              return change(at, ids, CHANGES[intent]);
            case "delete":
              return ask(at, ids, (monitors, backPath) => ({
                title: "Delete monitors",
                children: (
                  <DeleteSelected {...{ monitors, webhooks: webhooksOf(monitors), backPath }} />
                ),
              }));
            case "tag":
              return askForTag(at, ids, TAG_FORM.state(TAG_FORM.initial(), {}));
            default:
              return back(at, { tone: "major", text: "Select an action for the monitors." });
          }
        }),
      { ...formBody(), ...screenOperation(session("admin")) },
    )
    .post("/selected/delete", (at) => withSelected(at, (ids) => change(at, ids, CHANGES.delete)), {
      ...formBody(),
      ...screenOperation(session("admin")),
    })
    .post(
      "/selected/tag",
      (at) =>
        withSelected(at, async (ids) => {
          const values = TAG_FORM.read(at.body);
          const kept = keptNotice(at.body);
          if (kept !== undefined)
            return askForTag(at, ids, { ...TAG_FORM.state(values, {}), kept });
          const { tag, action } = TAG_FORM.parse(values, {}).body;
          const { errors } = examine(TagBody, { tag, action });
          return errors.isEmpty
            ? change(at, ids, tagChange(action, tag))
            : askForTag(at, ids, TAG_FORM.rejected(values, errors.all, {}), 422);
        }),
      {
        ...formBody(),
        ...screenOperation(session("admin"), KEEPS_TYPED),
      },
    );
}

type TagAction = "add" | "remove";

interface SelectedProps {
  monitors: readonly MonitorRow[];
  /** Path of the list part in which they were selected. */
  backPath: string;
}

/** Asks before selected monitors are deleted, and names them. */
function DeleteSelected({
  monitors,
  webhooks,
  backPath,
}: SelectedProps & { webhooks: readonly WebhookRow[] }) {
  const what = plural(monitors.length, "monitor");
  return (
    <DialogForm
      title={`Delete ${what}`}
      action={selectedPath("/delete", backPath)}
      button={`Delete ${what}`}
      isDanger
      cancelHref={backPath}
    >
      <Selected monitors={monitors} />
      <p>
        Checks stop, and the results are no longer visible. Statuses set by the monitors end now,
        and stay in the history of the components. This cannot be undone.
      </p>
      <WebhooksLeft webhooks={webhooks} />
    </DialogForm>
  );
}

/** Form for the tag of selected monitors. */
const TAG_FORM = defineForm<{ tag: string; action: TagAction }>()({
  tag: textField({ label: "Tag", maxlength: TAG_MAX, isRequired: true, autofocus: true }),
  action: choiceField<TagAction>({
    label: "Action",
    initial: "add",
    options: [
      { value: "add", label: "Add the tag" },
      { value: "remove", label: "Remove the tag" },
    ],
  }),
});

/** Asks for the tag that is added to selected monitors or removed from them. */
function TagSelected({
  monitors,
  backPath,
  state,
}: SelectedProps & { state: StateOf<typeof TAG_FORM> }) {
  return (
    <DialogForm
      title={`Tag ${plural(monitors.length, "monitor")}`}
      action={selectedPath("/tag", backPath)}
      button="Change tags"
      cancelHref={backPath}
    >
      <FormFields form={TAG_FORM} state={state} />
      <Selected monitors={monitors} />
    </DialogForm>
  );
}

/** Names of selected monitors with links, and their ids as inputs. */
function Selected({ monitors }: Pick<SelectedProps, "monitors">) {
  return (
    <ul class="plain-list chosen">
      {monitors.map(({ id, name }) => (
        <li key={id}>
          <input type="hidden" name="id" value={id} />
          <a href={monitorPath(id)}>{name}</a>
        </li>
      ))}
    </ul>
  );
}

/** Returns the path of a form for selected monitors with the query of the list. */
function selectedPath(part: string, backPath: string): string {
  return backPath.replace(MONITORS_PATH, `${SELECTED_MONITORS_PATH}${part}`);
}
