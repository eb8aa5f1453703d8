import type { Actor } from "../../../base/actor";
import { within } from "../../../base/clock";
import { conflict, type FieldError, invalidFields } from "../../../base/errors";
import {
  type CheckOutcome,
  isPassive,
  type MonitorType,
  SUPPORTED_TYPES,
  type SupportedType,
  type Tone,
} from "../../../base/status";
import { SECOND_MS } from "../../../base/time";
import { FieldErrors } from "../../../base/validation";
import { ANY_MONITOR } from "../../../base/webhook";
import type { Reader, Tx } from "../../../db/statements";
import { type Step, StepRecorder } from "../../../egress/steps";
import type { Form as SentForm } from "../../../http/form-body";
import { sessionOf, zoneOf } from "../../../http/request-context";
import { Notice, Shape } from "../../../ui/blocks";
import { Button } from "../../../ui/buttons";
import { collectErrors, type FormState, type ValuesOf } from "../../../ui/forms/form";
import { readMonitorChoices, readPageComponents } from "../../../ui/forms/object-fields";
import { newFormToken } from "../../../ui/frame/changes";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { readPages } from "../../../ui/frame/page-choice";
import { monitorPath, MONITORS_PATH, NEW_MONITOR_PATH } from "../../../ui/frame/paths";
import type { ScreenRequest } from "../../../ui/frame/render";
import { Icon } from "../../../ui/icons";
import type { Area } from "../../../ui/screens/area";
import { FormScreen, ManagedByFile } from "../../../ui/screens/form-screen";
import type { At, SentAt } from "../../../ui/screens/routes";
import { dayAt, useZone, zoneTime } from "../../../ui/times";
import { ManagedByLabels } from "../../docker-labels/screens/notices";
import type { DockerMonitorRow } from "../../docker-labels/store";
import { nextStepLink } from "../../overview/screens/first-steps";
import { FORMATS } from "../../webhooks/formats/index";
import {
  listSelectiveWebhooks,
  receivesKind,
  selectWebhooksOfMonitor,
} from "../../webhooks/monitors";
import { isOpenToEvents } from "../../webhooks/recipient";
import { webhookName } from "../../webhooks/records";
import { listAllWebhooks, type WebhookRow } from "../../webhooks/store";
import { listPlainFormats, notifyAddress, type PlainAddress } from "../../webhooks/webhooks";
import { CANNOT_CHECK, invertResult } from "../monitoring";
import { createMonitor, updateMonitor } from "../monitors";
import { listMonitorGroups } from "../overview-store";
import type { MonitorConfig } from "../probes/index";
import { getMonitorRecord, type MonitorRecord } from "../records";
import { readMonitorChange, readNewMonitor, requireSupported } from "../settings";
import type { MonitorRow } from "../store";
import { type Monitor, presentMonitor } from "../wire";
import { alertValues } from "./alert-fields";
import { CheckSteps } from "./check-steps";
import {
  changesOf,
  cloneResource,
  type DueCalls,
  type MonitorContext,
  type MonitorFields,
  isTypeChosen,
  monitorForm,
  monitorResource,
  newMonitorForm,
  nextCalls,
  sentType,
  storedParts,
  toChange,
  toCreation,
  valuesForChosenType,
  type WebhookSelection,
} from "./forms";
import { readLocationChoices } from "./location-fields";
import { EMPTY_ROWS, MORE_EMPTY_ROWS, MORE_ROWS } from "./rows";
import { createTypedSecrets, NO_SECRETS, secretsIn } from "./secrets";
import { showToken } from "./token";
import { TYPE_FORMS } from "./types";
import { findContainerOf, listNotified } from "./view";
import { answerInWords, resultInWords, typeLabel } from "./words";

/** Maximum number of groups that the form offers. Others can be typed. */
const GROUPS_OFFERED = 200;

/** Time for which a saved form waits for the result of a check. */
const RESULT_WAIT_MS = 3 * SECOND_MS;

/** Endpoints whose selection of a monitor changes, and an address that gets its events from now on. */
interface EndpointChange {
  selection: Parameters<typeof selectWebhooksOfMonitor>[3];
  endpoint: PlainAddress | undefined;
}

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
      webhooks: listAllWebhooks(reader, {})
        .map((row) => ({ row, isForAll: row.monitors.includes(ANY_MONITOR) }))
        .filter(({ row, isForAll }) => !isForAll || (row.enabled && receivesKind(row, "monitor")))
        .map(({ row, isForAll }) => ({
          id: row.id,
          name: webhookName(row),
          note: noteOf(row, pages.find((page) => page.id === row.pageId)?.name),
          isForAll,
        })),
      formats: listPlainFormats(ctx),
      locations: readLocationChoices(reader),
      groups: listMonitorGroups(reader, { limit: GROUPS_OFFERED }).map(({ group }) => group),
      pages: pages.map((page) => ({ ...page, ...readPageComponents(reader, page.id) })),
      stored: storedParts(type, monitor?.config),
      secrets,
      now: ctx.clock.now(),
      dockerHosts: [...ctx.config.dockerHosts.keys()],
      emptyRows: sent && asksForRows(sent) ? MORE_EMPTY_ROWS : EMPTY_ROWS,
      isTypeChosen: sent !== undefined && isTypeChosen(sent),
      draft,
    };
  }

  /** Runs a check once, without saving. Returns the result that would count, with its steps. */
  async function tryOut(
    type: MonitorType,
    config: MonitorConfig,
    { timeoutMs, inverted }: Pick<MonitorRow, "timeoutMs" | "inverted">,
  ) {
    if (isPassive(type)) throw conflict(CANNOT_CHECK);
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

  /**
   * Changes a monitor, and then who gets its events. Throws `validation_failed` with the errors of all three, so that
   * one answer names every wrong field.
   */
  function withEndpoints<Result>(
    tx: Tx,
    actor: Actor,
    { selection, endpoint }: EndpointChange,
    change: () => { result: Result; id: string },
  ): { result: Result; isNotifiedChanged: boolean } {
    const errors: FieldError[] = [];
    const done = collectErrors(errors, change);
    // Without a monitor, all of it is rolled back.
    const isSelected = collectErrors(errors, () =>
      selectWebhooksOfMonitor(ctx, tx, done?.id ?? "", selection, actor),
    );
    const wrong: FieldError[] = [];
    const isAdded =
      endpoint && collectErrors(wrong, () => notifyAddress(ctx, tx, done?.id, endpoint, actor));
    for (const { pointer, detail } of wrong) {
      errors.push({ pointer: pointer.replace("#", "#/endpoint"), detail });
    }
    if (!done || errors.length > 0) throw invalidFields(errors);
    return { result: done.result, isNotifiedChanged: Boolean(isSelected) || Boolean(isAdded) };
  }

  /** Says that a monitor was saved, the result of a check that began then, and who is notified. */
  async function describeSaved(
    { requestContext }: Pick<ScreenRequest, "requestContext">,
    id: string,
    saved: string,
  ): Promise<{ tone: Tone; text: string }> {
    const zone = zoneOf(requestContext);
    const record = getMonitorRecord(ctx.db, id);
    const { type, paused } = record.row;
    const recorder = new StepRecorder(ctx.clock);
    const isChecked = !paused && type !== "unsupported" && !isPassive(type);
    const checking = isChecked
      ? monitoring.checkNow(id, recorder).then(
          (check) => resultInWords(check, recorder.steps, zone),
          () => undefined,
        )
      : Promise.resolve(undefined);
    const seen = await within(ctx.clock, RESULT_WAIT_MS, checking, () => undefined);
    const { tone, text } = seen ?? {
      tone: "ok",
      text: isChecked ? "The result of a check follows." : "",
    };
    const notified = notifiedInWords(ctx.db, record);
    return { tone, text: [saved, text, notified].filter(Boolean).join(" ") };
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
    form: (at) => newMonitorForm(typeOf(at)),
    initial(at) {
      const { component } = at.query;
      const source = sourceOf(at);
      const type = typeOf(at);
      return source
        ? monitorForm(source.type).stored(cloneResource(source, selectionOf(ctx.db, source.id)))
        : { component_ids: component ?? "", ...(type === "alert" && alertValues(at.query)) };
    },
    load: readContext,
    show(state, at) {
      holdSecrets(at, state.context);
      const page = { type: typeOf(at), state };
      return {
        title: "Create monitor",
        isSecret: hasSecretAddress(at),
        children: <NewMonitor {...page} />,
      };
    },
    redisplay: (values, sent) =>
      valuesForChosenType(sent) ?? (asksForRows(sent) ? values : undefined),
    trial: {
      intent: CHECK_NOW,
      prepare(body, at, context) {
        const type = typeOf(at);
        // A check needs no name.
        const input = toCreation(ctx.db, type, { ...body, name: body.name || "Trial" });
        const errors = new FieldErrors();
        const { config, settings } = readNewMonitor(ctx.db, input, errors);
        errors.throwIfAny();
        return async () =>
          TYPE_FORMS[type].isPush
            ? { ...context, nextCalls: nextCalls(config, ctx.clock.now()) }
            : withTrial(context, await tryOut(type, config, settings));
      },
    },
    create(tx, body, actor, at) {
      const selection = { added: body.webhook_ids?.checked ?? [], removed: [] };
      const { result } = withEndpoints(tx, actor, { selection, endpoint: body.endpoint }, () => {
        const made = createMonitor(ctx, tx, toCreation(tx, typeOf(at), body), actor);
        return { result: made, id: made.record.row.id };
      });
      return { made: result, subjectId: result.record.row.id };
    },
    async reveal(reveal, at) {
      forgetSecrets(at);
      const id = "shownBefore" in reveal ? reveal.shownBefore : reveal.revealed.record.row.id;
      if (isPassive(typeOf(at))) {
        const notified = notifiedInWords(ctx.db, getMonitorRecord(ctx.db, id));
        return showToken(ctx, reveal, "Your new address", notified);
      }
      const saved = await describeSaved(at, id, "The monitor was created.");
      return { path: monitorPath(id), ...saved, link: nextStepLink(ctx.db, at.requestContext) };
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
        context: {
          ...readContext(reader, at, monitor),
          monitor,
          isFromFile,
          container: findContainerOf(reader, record),
        },
      };
    },
    show(state, at) {
      holdSecrets(at, state.context);
      return {
        title: "Edit monitor",
        isSecret: hasSecretAddress(at),
        children: <EditMonitor state={state} />,
      };
    },
    redisplay: (values, sent) => (asksForRows(sent) ? values : undefined),
    trial: {
      intent: CHECK_NOW,
      prepare(changes, { params }, context) {
        const { type } = context.monitor;
        const { row } = getMonitorRecord(ctx.db, params.id);
        if (!TYPE_FORMS[type].isPush) requireActiveCheck(row);
        const change = toChange(ctx.db, changes, context.monitor);
        const errors = new FieldErrors();
        const { config, settings } = readMonitorChange(ctx.db, row, change, errors);
        errors.throwIfAny();
        return async () =>
          TYPE_FORMS[type].isPush
            ? { ...context, nextCalls: nextCalls(config, ctx.clock.now()) }
            : withTrial(context, await tryOut(type, config, settings));
      },
    },
    update(tx, changes, actor, { params: { id } }, { monitor }) {
      const { webhook_ids: chosen, endpoint } = changes;
      const selection = chosen ? changesOf(chosen) : { added: [], removed: [] };
      const change = () => ({
        result: updateMonitor(ctx, tx, id, toChange(tx, changes, monitor), actor),
        id,
      });
      const { result, isNotifiedChanged } = withEndpoints(
        tx,
        actor,
        { selection, endpoint },
        change,
      );
      return isNotifiedChanged || result.row.version !== monitor.version;
    },
    async done(at, _, isChanged) {
      forgetSecrets(at);
      const { id } = at.params;
      const path = monitorPath(id);
      if (!isChanged) return { path, text: undefined };
      return { path, ...(await describeSaved(at, id, "The monitor was changed.")) };
    },
  });
}

/** Adds the result of a check that was run without saving, and what it offers for the form. */
function withTrial<Context extends MonitorContext>(
  context: Context,
  trial: TrialResult & { offered?: readonly string[] },
): Context & { trial: TrialResult } {
  return { ...context, trial, offered: trial.offered };
}

/** Returns the webhooks for selected monitors that get the events of a monitor. */
function selectionOf(reader: Reader, monitorId: string): WebhookSelection {
  const named = listSelectiveWebhooks(reader).filter(({ monitors }) =>
    monitors.includes(monitorId),
  );
  const ids = named.map(({ id }) => id);
  return { checked: ids, shown: ids };
}

/** Returns format and limits of an endpoint: "Slack, disabled". */
function noteOf({ format, enabled }: WebhookRow, pageName: string | undefined): string {
  return [
    FORMATS[format].label,
    ...(pageName === undefined ? [] : [`only while all components are on the page ${pageName}`]),
    ...(enabled ? [] : ["disabled"]),
  ].join(", ");
}

/** Returns who is notified about a monitor, as a sentence. */
function notifiedInWords(reader: Reader, record: MonitorRecord): string {
  const webhooks = listNotified(reader, record).filter(({ enabled }) => enabled);
  if (webhooks.length === 0) return "Nobody is notified about it.";
  const names = webhooks
    .slice(0, WEBHOOKS_SHOWN)
    .map((row) => webhookName(row) + (isOpenToEvents(reader, row) ? "" : " (once confirmed)"));
  const more = webhooks.length - names.length;
  if (more > 0) names.push(`${more.toLocaleString("en")} more`);
  return `Notified: ${names.join(", ")}.`;
}

/** True if a submitted form names an address, which may be a secret. */
function hasSecretAddress({ sent }: At<string>): boolean {
  return sent !== undefined && sent.text("endpoint_url") !== "";
}

/** Throws `conflict` for push monitors and unsupported types, which the server cannot check. */
export function requireActiveCheck(row: Pick<MonitorRow, "type" | "config">): void {
  requireSupported(row);
  if (isPassive(row.type)) throw conflict(CANNOT_CHECK);
}

function asksForRows(sent: SentForm): boolean {
  return sent.text("intent") === MORE_ROWS;
}

function typeOf({ sent, query }: At<string>): SupportedType {
  const named = sent ? sentType(sent) : query["type"];
  return SUPPORTED_TYPES.find((type) => type === named) ?? "http";
}

/** Intent of the button that runs a check without saving. */
const CHECK_NOW = "check";

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
  container: DockerMonitorRow | undefined;
}

const LIST = { href: MONITORS_PATH, label: "Monitors" };

type StateWith<Context> = FormState<ValuesOf<MonitorFields>, Context>;

/** "Create monitor": a form for each type. */
function NewMonitor(props: { type: SupportedType; state: StateWith<MonitorFormContext> }) {
  const { type, state } = props;
  return (
    <>
      <FormScreen
        title="Create monitor"
        crumbs={[LIST]}
        form={newMonitorForm(type)}
        state={{ ...state, hidden: { draft: state.context.draft, ...state.hidden } }}
        action={NEW_MONITOR_PATH}
        enter={{}}
        isCard
        result={<Result {...state.context} />}
      >
        <CheckButton type={type} />
        <Button kind="primary">Create monitor</Button>
      </FormScreen>
      <CheckSteps steps={state.context.trial?.steps ?? []} />
    </>
  );
}

/** Edit form of a monitor. The type cannot be changed. */
function EditMonitor({ state }: { state: StateWith<EditContext> }) {
  const { monitor, isFromFile, container, draft, trial } = state.context;
  const { id, name, type } = monitor;
  return (
    <>
      <FormScreen
        title="Edit monitor"
        crumbs={[LIST, { href: monitorPath(id), label: name }]}
        intro={type === "unsupported" ? undefined : typeLabel(type)}
        above={
          isFromFile ? (
            <ManagedByFile what="monitor" />
          ) : container ? (
            <ManagedByLabels source={container} />
          ) : null
        }
        form={monitorForm(type)}
        state={{ ...state, hidden: { draft, ...state.hidden } }}
        action={monitorPath(id, "edit")}
        enter={{}}
        isCard
        result={<Result {...state.context} />}
      >
        <CheckButton type={type} />
        <Button kind="primary">Save changes</Button>
      </FormScreen>
      <CheckSteps steps={trial?.steps ?? []} />
    </>
  );
}

/**
 * Button that checks the typed configuration once; for push monitors it shows when calls are due. Absent for
 * types that the server does not check.
 */
function CheckButton({ type }: { type: MonitorType }) {
  if (type === "unsupported" || type === "alert") return null;
  const { isPush } = TYPE_FORMS[type];
  return (
    <Button name="intent" value={CHECK_NOW}>
      <Icon name={isPush ? "clock" : "refresh-cw"} />
      {isPush ? "Show due times" : type === "upstream" ? "Load components" : "Check now"}
    </Button>
  );
}

/** Result of a button that saves nothing. Takes the focus when the page loads, so that it is in the window. */
function Result({ trial, nextCalls: calls }: MonitorFormContext) {
  if (!trial && !calls) return null;
  return (
    <div role="status" tabIndex={-1} autofocus>
      {trial ? <TrialResultLine {...trial} /> : null}
      {calls ? <DueCallsNotice {...calls} /> : null}
    </div>
  );
}

function DueCallsNotice({ times, timeZone }: DueCalls) {
  return times.length === 0 ? (
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
  );
}

const OUTCOMES = {
  ok: { tone: "ok", title: "The check succeeded" },
  failed: { tone: "major", title: "The check failed" },
  unknown: { tone: "degraded", title: "The server could not perform the check" },
} as const satisfies Record<CheckOutcome, object>;

function TrialResultLine({ outcome, latencyMs, message, certificate, steps }: TrialResult) {
  const { tone, title } = OUTCOMES[outcome];
  const zone = useZone();
  return (
    <p class={`notice t-${tone}`}>
      <Shape tone={tone} />
      <span>
        <span class="strong">{title}</span>{" "}
        <span class="quiet-text">
          {[
            message,
            answerInWords(latencyMs, steps),
            certificate && `The certificate expires on ${dayAt(certificate.expiresAt, zone)}.`,
            "Nothing was saved yet.",
          ]
            .filter(Boolean)
            .join(" ")}
        </span>
      </span>
    </p>
  );
}

/** Maximum number of webhooks that a message names. */
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
