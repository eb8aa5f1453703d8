import { conflict } from "../../../base/errors";
import {
  type CheckOutcome,
  type MonitorType,
  SUPPORTED_TYPES,
  type SupportedType,
} from "../../../base/status";
import { toIso } from "../../../base/time";
import { FieldErrors } from "../../../base/validation";
import type { Reader } from "../../../db/statements";
import { type Step, StepRecorder } from "../../../egress/steps";
import type { Form as SentForm } from "../../../http/form-body";
import { sessionOf } from "../../../http/request-context";
import { Notice } from "../../../ui/blocks";
import { Button } from "../../../ui/buttons";
import type { FormState, ValuesOf } from "../../../ui/forms/form";
import { readMonitorChoices, readPageComponents } from "../../../ui/forms/object-fields";
import { newFormToken } from "../../../ui/frame/changes";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { readPages } from "../../../ui/frame/page-choice";
import {
  monitorPath,
  MONITORS_PATH,
  NEW_MONITOR_PATH,
  newMonitorPath,
} from "../../../ui/frame/paths";
import { Tabs } from "../../../ui/navigation";
import type { Area } from "../../../ui/screens/area";
import { FormScreen, ManagedByFile } from "../../../ui/screens/form-screen";
import type { At, SentAt } from "../../../ui/screens/routes";
import { longDay, zoneTime } from "../../../ui/times";
import { listSelectiveWebhooks, selectWebhooksOfMonitor } from "../../webhooks/monitors";
import { webhookName } from "../../webhooks/records";
import type { WebhookRow } from "../../webhooks/store";
import { invertResult } from "../monitoring";
import { createMonitor, updateMonitor } from "../monitors";
import { listMonitorGroups } from "../overview-store";
import type { MonitorConfig } from "../probes/index";
import { getMonitorRecord } from "../records";
import { readMonitorChange, readNewMonitor, requireSupported } from "../settings";
import type { MonitorRow } from "../store";
import { type Monitor, presentMonitor } from "../wire";
import { CheckSteps } from "./detail";
import {
  changesOf,
  cloneResource,
  type DueCalls,
  type MonitorContext,
  type MonitorFields,
  monitorForm,
  monitorResource,
  nextCalls,
  storedParts,
  toChange,
  toCreation,
  type WebhookSelection,
} from "./forms";
import { EMPTY_ROWS, MORE_EMPTY_ROWS, MORE_ROWS } from "./rows";
import { createTypedSecrets, NO_SECRETS, secretsIn } from "./secrets";
import { showToken } from "./token";
import { TYPE_FORMS } from "./types";
import { latencyInWords, typeLabel } from "./words";

/** Maximum number of groups that the form offers. Others can be typed. */
const GROUPS_OFFERED = 200;

/** Adds the forms that create and edit a monitor, each of which can be tried out before. */
export function addMonitorForms(area: Area, { ctx, monitoring }: AdminDependencies): void {
  const held = createTypedSecrets(ctx);

  /** Reads the screen data of a form, with the secrets that were typed so far. */
  function readContext(reader: Reader, at: At<string>, monitor?: Monitor): MonitorFormContext {
    const { sent } = at;
    const { id } = sessionOf(at.requestContext);
    const draft = sent?.text("draft") ?? newFormToken(ctx);
    const type = monitor?.type ?? typeOf(at);
    const pages = readPages(reader);
    const secrets = sent ? secretsIn(type, sent, held.find(id, draft)) : NO_SECRETS;
    return {
      others: readMonitorChoices(reader, [
        ...(monitor?.depends_on ?? []),
        ...(sent?.all("depends_on") ?? []),
      ]).filter(({ id: otherId }) => otherId !== monitor?.id),
      webhooks: listSelectiveWebhooks(reader).map((row) => ({
        id: row.id,
        name: webhookName(row),
        pageName: pages.find((page) => page.id === row.pageId)?.name,
      })),
      groups: listMonitorGroups(reader, { limit: GROUPS_OFFERED }).map(({ group }) => group),
      pages: pages.map((page) => ({ ...page, ...readPageComponents(reader, page.id) })),
      stored: storedParts(type, monitor?.config),
      secrets,
      now: ctx.clock.now(),
      dockerHosts: [...ctx.config.dockerHosts.keys()],
      emptyRows: sent && asksForRows(sent) ? MORE_EMPTY_ROWS : EMPTY_ROWS,
      draft,
    };
  }

  /** Runs a check once, without saving. Returns the result that would count, with its steps. */
  async function tryOut(
    type: MonitorType,
    config: MonitorConfig,
    { timeoutMs, inverted }: Pick<MonitorRow, "timeoutMs" | "inverted">,
  ) {
    const recorder = new StepRecorder(ctx.clock);
    const result = await monitoring.tryOut(type, config, timeoutMs, recorder);
    return { ...(inverted ? invertResult(result) : result), steps: recorder.steps };
  }

  /**
   * Returns the monitor that a new one is cloned from, as the query names it; undefined for one that this
   * version cannot check. Throws `not_found`.
   */
  function sourceOf({ sent, query: { from } }: At<string>): Monitor | undefined {
    if (sent !== undefined || !from) return undefined;
    const source = presentMonitor(getMonitorRecord(ctx.db, from));
    return source.type === "unsupported" ? undefined : source;
  }

  /** Holds typed secrets while the form is shown again. */
  function holdSecrets({ requestContext }: At<string>, context: MonitorFormContext): void {
    held.hold(sessionOf(requestContext).id, context.draft, context.secrets);
  }

  function forgetSecrets({ requestContext, sent }: SentAt<string>): void {
    held.forget(sessionOf(requestContext).id, sent.text("draft"));
  }

  area.secretForm("/new", {
    role: "admin",
    form: (at) => monitorForm(typeOf(at)),
    initial(at) {
      const { component } = at.query;
      const source = sourceOf(at);
      return source
        ? monitorForm(source.type).stored(cloneResource(source, selectionOf(ctx.db, source.id)))
        : { component_ids: component ? [component] : [] };
    },
    load: readContext,
    show(state, at) {
      holdSecrets(at, state.context);
      const page = { type: typeOf(at), state };
      return { title: "Create monitor", children: <NewMonitor {...page} /> };
    },
    redisplay: (values, sent) => (asksForRows(sent) ? values : undefined),
    trial: {
      intent: CHECK_NOW,
      async run(body, at, context) {
        const type = typeOf(at);
        // A check needs no name.
        const input = toCreation(type, { ...body, name: body.name || "Trial" });
        const errors = new FieldErrors();
        const { config, settings } = readNewMonitor(ctx.db, input, errors);
        errors.throwIfAny();
        if (TYPE_FORMS[type].isPush)
          return { ...context, nextCalls: nextCalls(config, ctx.clock.now()) };
        return { ...context, trial: await tryOut(type, config, settings) };
      },
    },
    create(tx, body, actor, at) {
      const made = createMonitor(ctx, tx, toCreation(typeOf(at), body), actor);
      const { id } = made.record.row;
      const selection = { added: body.webhook_ids?.checked ?? [], removed: [] };
      selectWebhooksOfMonitor(ctx, tx, id, selection, actor);
      return { made, subjectId: id };
    },
    reveal(reveal, at) {
      forgetSecrets(at);
      if (TYPE_FORMS[typeOf(at)].isPush) return showToken(ctx, reveal, "Your new address");
      if (at.sent.text("intent") === ADD_ANOTHER) {
        return { path: newMonitorPath(typeOf(at)), text: "The monitor was created. Add another." };
      }
      const id = "shownBefore" in reveal ? reveal.shownBefore : reveal.revealed.record.row.id;
      return {
        path: monitorPath(id),
        text: "The monitor was created. The first check runs at once.",
      };
    },
  });

  area.editForm("/:id/edit", {
    role: "admin",
    form: ({ params }) => monitorForm(getMonitorRecord(ctx.db, params.id).row.type),
    load(reader, at) {
      const record = getMonitorRecord(reader, at.params.id);
      const monitor = presentMonitor(record);
      const isFromFile = record.row.managedBy === "apply";
      return {
        resource: monitorResource(monitor, selectionOf(reader, monitor.id)),
        version: monitor.version,
        context: { ...readContext(reader, at, monitor), monitor, isFromFile },
      };
    },
    show(state, at) {
      holdSecrets(at, state.context);
      return { title: "Edit monitor", children: <EditMonitor state={state} /> };
    },
    redisplay: (values, sent) => (asksForRows(sent) ? values : undefined),
    trial: {
      intent: CHECK_NOW,
      async run(changes, { params }, context) {
        const { type } = context.monitor;
        const { row } = getMonitorRecord(ctx.db, params.id);
        if (!TYPE_FORMS[type].isPush) requireActiveCheck(row);
        const change = toChange(changes, context.monitor);
        const errors = new FieldErrors();
        const { config, settings } = readMonitorChange(ctx.db, row, change, errors);
        errors.throwIfAny();
        if (TYPE_FORMS[type].isPush)
          return { ...context, nextCalls: nextCalls(config, ctx.clock.now()) };
        return { ...context, trial: await tryOut(type, config, settings) };
      },
    },
    update(tx, changes, actor, { params }, { monitor }) {
      const { webhook_ids: selection } = changes;
      const { row } = updateMonitor(ctx, tx, params.id, toChange(changes, monitor), actor);
      const areSelected =
        selection !== undefined &&
        selectWebhooksOfMonitor(ctx, tx, params.id, changesOf(selection), actor);
      return areSelected || row.version !== monitor.version;
    },
    done(at) {
      forgetSecrets(at);
      return { path: monitorPath(at.params.id), text: "The monitor was changed." };
    },
  });
}

/** Returns the webhooks for selected monitors that get the events of a monitor. */
function selectionOf(reader: Reader, monitorId: string): WebhookSelection {
  const named = listSelectiveWebhooks(reader).filter(({ monitors }) =>
    monitors.includes(monitorId),
  );
  const ids = named.map(({ id }) => id);
  return { checked: ids, shown: ids };
}

/** Throws `conflict` for push monitors and unsupported types, which the server cannot check. */
export function requireActiveCheck(row: Pick<MonitorRow, "type" | "config">): void {
  requireSupported(row);
  if (TYPE_FORMS[row.type].isPush)
    throw conflict("Push monitors wait for calls and cannot be checked.");
}

function asksForRows(sent: SentForm): boolean {
  return sent.text("intent") === MORE_ROWS;
}

function typeOf({ sent, query }: At<string>): SupportedType {
  const named = sent ? sent.text("type") : query["type"];
  return SUPPORTED_TYPES.find((type) => type === named) ?? "http";
}

/** Intent of the button that runs a check without saving. */
const CHECK_NOW = "check";

/** Intent of the button that shows an empty form after the monitor was created. */
const ADD_ANOTHER = "another";

/** Result of a check that was run without saving. */
interface TrialResult {
  outcome: CheckOutcome;
  latencyMs: number | null;
  message: string | null;
  certificate?: { expiresAt: number };
  steps: readonly Step[];
}

/** Screen data of the forms for monitors. */
interface MonitorFormContext extends MonitorContext {
  /** Identifies one filling in of the form, under which typed secrets are held. */
  draft: string;
  trial?: TrialResult;
  nextCalls?: DueCalls;
}

interface EditContext extends MonitorFormContext {
  monitor: Monitor;
  isFromFile: boolean;
}

const LIST = { href: MONITORS_PATH, label: "Monitors" };

type StateWith<Context> = FormState<ValuesOf<MonitorFields>, Context>;

/** "Create monitor": a form for each type. */
function NewMonitor(props: { type: SupportedType; state: StateWith<MonitorFormContext> }) {
  const { type, state } = props;
  const { draft, trial, nextCalls } = state.context;
  return (
    <FormScreen
      title="Create monitor"
      crumbs={[LIST]}
      above={
        <>
          <Tabs
            label="Type of the monitor"
            items={SUPPORTED_TYPES.map((each) => ({
              href: newMonitorPath(each),
              label: typeLabel(each),
              isCurrent: each === type,
            }))}
            isWrapped
          />
          <p class="muted">{TYPE_FORMS[type].sentence}</p>
          {trial ? <TrialNotice trial={trial} /> : null}
          {nextCalls ? <DueCallsNotice {...nextCalls} /> : null}
        </>
      }
      form={monitorForm(type)}
      state={{ ...state, hidden: { type, draft, ...state.hidden } }}
      action={NEW_MONITOR_PATH}
      enter={{}}
    >
      <Button kind="primary">Create monitor</Button>
      {TYPE_FORMS[type].isPush ? null : (
        <Button name="intent" value={ADD_ANOTHER}>
          Create and add another
        </Button>
      )}
      <CheckButton type={type} />
    </FormScreen>
  );
}

/** Edit form of a monitor. The type cannot be changed. */
function EditMonitor({ state }: { state: StateWith<EditContext> }) {
  const { monitor, isFromFile, draft, trial, nextCalls } = state.context;
  return (
    <FormScreen
      title="Edit monitor"
      crumbs={[LIST, { href: monitorPath(monitor.id), label: monitor.name }]}
      above={
        <>
          {isFromFile ? <ManagedByFile what="monitor" /> : null}
          {trial ? <TrialNotice trial={trial} /> : null}
          {nextCalls ? <DueCallsNotice {...nextCalls} /> : null}
        </>
      }
      form={monitorForm(monitor.type)}
      state={{ ...state, hidden: { draft, ...state.hidden } }}
      action={monitorPath(monitor.id, "edit")}
      enter={{}}
    >
      <Button kind="primary">Save changes</Button>
      <CheckButton type={monitor.type} />
    </FormScreen>
  );
}

/**
 * Button that checks the typed configuration once; for push monitors it shows when calls are due. Absent for
 * types that the server does not check.
 */
function CheckButton({ type }: { type: MonitorType }) {
  if (type === "unsupported") return null;
  return (
    <Button name="intent" value={CHECK_NOW}>
      {TYPE_FORMS[type].isPush ? "Show due times" : "Check now"}
    </Button>
  );
}

function DueCallsNotice({ times, timeZone }: DueCalls) {
  return (
    <div role="status">
      {times.length === 0 ? (
        <Notice tone="maint" title="There is no schedule">
          <p>Select “By a schedule” and type a cron expression to see the next due times.</p>
        </Notice>
      ) : (
        <Notice tone="ok" title={`The next ${times.length} due times`}>
          <ul class="plain-list">
            {times.map((at) => (
              <li key={at}>{zoneTime(at, timeZone)}</li>
            ))}
          </ul>
          <p>Nothing was saved yet.</p>
        </Notice>
      )}
    </div>
  );
}

const OUTCOMES = {
  ok: { tone: "ok", title: "The check succeeded" },
  failed: { tone: "major", title: "The check failed" },
  unknown: { tone: "degraded", title: "The server could not perform the check" },
} as const satisfies Record<CheckOutcome, object>;

function TrialNotice({ trial }: { trial: TrialResult }) {
  const { outcome, latencyMs, message, certificate, steps } = trial;
  return (
    <>
      <div role="status">
        <Notice {...OUTCOMES[outcome]}>
          {message === null ? null : <p>{message}</p>}
          {latencyMs === null ? null : <p>The response took {latencyInWords(latencyMs)}.</p>}
          {certificate === undefined ? null : (
            <p>The certificate expires on {longDay(toIso(certificate.expiresAt))}.</p>
          )}
          <p>Nothing was saved yet.</p>
        </Notice>
      </div>
      <CheckSteps steps={steps} />
    </>
  );
}

/** Maximum number of webhooks that a confirmation names. */
const WEBHOOKS_SHOWN = 5;

/** Sentence about webhooks that are left without a monitor. */
export function WebhooksLeft({ webhooks }: { webhooks: readonly WebhookRow[] }) {
  if (webhooks.length === 0) return null;
  const names = webhooks.slice(0, WEBHOOKS_SHOWN).map((row) => `“${webhookName(row)}”`);
  const more = webhooks.length - names.length;
  if (more > 0) names.push(`${more.toLocaleString("en")} more`);
  return (
    <p>
      {webhooks.length === 1 ? "This webhook is" : "These webhooks are"} left without a monitor:{" "}
      {names.join(", ")}.
    </p>
  );
}
