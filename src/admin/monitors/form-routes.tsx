import { createMonitor, validateNewMonitor } from "../../features/monitors/create";
import { getMonitorRecord } from "../../features/monitors/records";
import { invertResult } from "../../features/monitors/probe";
import { listMonitorGroups } from "../../features/monitors/overview-store";
import { type Monitor, presentMonitor } from "../../features/monitors/model";
import type { MonitorConfig } from "../../features/monitors/probes";
import type { MonitorRow } from "../../features/monitors/store";
import { requireSupported } from "../../features/monitors/unsupported";
import { updateMonitor, validateMonitorChange } from "../../features/monitors/update";
import { listSelectiveWebhooks, selectWebhooksOfMonitor } from "../../features/webhooks/monitors";
import { webhookName } from "../../features/webhooks/changes";
import type { Reader } from "../../db/statements";
import { StepRecorder } from "../../egress/steps";
import { conflict } from "../../base/errors";
import type { Form as SentForm } from "../../http/form-body";
import { sessionOf } from "../../http/request-context";
import { type MonitorType, SUPPORTED_TYPES, type SupportedType } from "../../base/status";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { readMonitorChoices, readPageComponents } from "../../ui/forms/object-fields";
import { monitorPath } from "../../ui/frame/paths";
import { readPages } from "../../ui/frame/page-choice";
import type { Area } from "../../ui/screens/area";
import type { At, SentAt } from "../../ui/screens/routes";
import { newFormToken } from "../../ui/frame/write-as";
import {
  ADD_ANOTHER,
  CHECK_NOW,
  EditMonitor,
  type MonitorFormContext,
  NewMonitor,
} from "./form-screens";
import {
  cloneResource,
  monitorForm,
  monitorResource,
  storedParts,
  toChange,
  toCreation,
} from "./forms";
import { newMonitorPath } from "./monitor-paths";
import { EMPTY_ROWS, MORE_EMPTY_ROWS, MORE_ROWS } from "./rows";
import { secretsIn } from "./stored-secrets";
import { showToken } from "./token";
import { nextCalls } from "./timing";
import { createTypedSecrets, NO_SECRETS } from "./typed-secrets";
import { TYPE_FORMS } from "./types";
import { changesOf, type WebhookSelection } from "./webhooks-field";

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
    showSummary: "Show the form for a new monitor",
    summary: "Create a monitor, or try it out",
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
        const { config, settings } = validateNewMonitor(ctx.db, input);
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
    showSummary: "Show the form for a monitor",
    summary: "Edit a monitor, or try it out",
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
        if (!TYPE_FORMS[type].isPush) requireActiveCheck(getMonitorRecord(ctx.db, params.id).row);
        const change = toChange(changes, context.monitor);
        const { config, settings } = validateMonitorChange(ctx.db, params.id, change);
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
