import { roleAllows } from "../../../base/actor";
import { runInSlices } from "../../../base/in-slices";
import { isPassive } from "../../../base/status";
import { plural } from "../../../base/text";
import { SECOND_MS } from "../../../base/time";
import { validate } from "../../../base/validation";
import { StepRecorder } from "../../../egress/steps";
import { seeOther } from "../../../http/answers";
import { formBody } from "../../../http/form-body";
import { session } from "../../../http/operation";
import { sessionOf, zoneOf } from "../../../http/request-context";
import { textField } from "../../../ui/forms/fields";
import { defineForm, optional } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { monitorPath, MONITORS_PATH } from "../../../ui/frame/paths";
import { createArea } from "../../../ui/screens/area";
import { screenOperation, ShowInstead } from "../../../ui/screens/routes";
import { RecreatedByLabels } from "../../docker-labels/screens/notices";
import { findKey } from "../../keys/store";
import { listWebhooksOnlyFor } from "../../webhooks/monitors";
import { listUnmatchedAlerts } from "../alerts/alert-store";
import {
  ALL_ALERTS,
  endAlerts,
  findOpenAlerts,
  UNMATCHED_MAX,
  UNMATCHED_MS,
} from "../alerts/reports";
import { getMonitorRecord } from "../records";
import { retentionOf } from "../rollup";
import {
  acknowledgeMonitor,
  deleteMonitor,
  endToken,
  pauseMonitor,
  resumeMonitor,
  rotateToken,
} from "../monitors";
import { findMonitor } from "../store";
import { tokensOf } from "../tokens";
import { AcknowledgeBody, NOTE_MAX } from "../wire";
import { UnmatchedAlerts } from "./alerts";
import { checksByLocation } from "../monitor-locations";
import { MonitorDetail } from "./detail";
import { CheckSteps } from "./check-steps";
import { addMonitorForms, requireActiveCheck, WebhooksLeft } from "./form-routes";
import { MonitorList, readMonitorList } from "./list";
import { LocationSteps, resultsInWords } from "./location-states";
import { rangeQuery, readRange } from "./range";
import { addSelectionRoutes } from "./selection";
import { tokenKindInWords } from "./job";
import { showToken } from "./token";
import { findContainerOf, readMonitorView } from "./view";
import { isUnacknowledged, resultInWords } from "./words";

/** Form without fields, which is submitted once. */
const ROTATE_FORM = defineForm<object>()({});

/** Form of an acknowledgement. */
const ACKNOWLEDGE_FORM = defineForm<{ note?: string }>()({
  note: optional(
    textField({
      label: "Note (optional)",
      hint: "What is being done. Visitors never see it.",
      maxlength: NOTE_MAX,
      autofocus: true,
    }),
  ),
});

type Query = Readonly<Record<string, string | undefined>>;

/** `/admin/monitors`: every role may read, admins change monitors. */
export function monitorAdminRoutes(deps: AdminDependencies) {
  const { ctx, flashes, monitoring } = deps;
  const area = createArea(deps, MONITORS_PATH, "viewer");

  const retention = retentionOf(ctx.config);
  const rangeOf = (query: Query, intervalMs?: number, timeZone?: string) =>
    readRange(query, ctx.clock.now(), retention, intervalMs, timeZone);
  /** Returns the path of a monitor's screen with the range of the query. */
  const homeOf = (id: string, query: Query) => `${monitorPath(id)}${rangeQuery(rangeOf(query))}`;

  area.screen("", async ({ query, requestContext }) => {
    const now = ctx.clock.now();
    const list = await runInSlices(readMonitorList(ctx.db, query, now));
    const { role } = sessionOf(requestContext).user;
    const labels = roleAllows(role, "admin") ? deps.labels?.() : undefined;
    return { title: "Monitors", children: <MonitorList {...{ list, labels, role, now }} /> };
  });

  area.screen("/alerts", ({ requestContext }) => {
    const now = ctx.clock.now();
    const alerts = listUnmatchedAlerts(ctx.db, {
      since: now - UNMATCHED_MS,
      limit: UNMATCHED_MAX,
    }).map((alert) => ({
      ...alert,
      senderName:
        findKey(ctx.db, { id: alert.sender })?.name ??
        findMonitor(ctx.db, { id: alert.sender })?.name ??
        alert.sender,
    }));
    const canCreate = roleAllows(sessionOf(requestContext).user.role, "admin");
    return {
      title: "Alerts that matched nothing",
      children: <UnmatchedAlerts {...{ alerts, canCreate, now }} />,
    };
  });

  addMonitorForms(area, deps);

  area.screen("/:id", ({ params, query, requestContext }) => {
    const now = ctx.clock.now();
    const { row, locations } = getMonitorRecord(ctx.db, params.id);
    const { role, timeZone } = sessionOf(requestContext).user;
    // An unknown location is ignored.
    const location = locations.find(({ ref }) => ref === query["location"])?.ref;
    const intervalMs = (row.intervalSeconds ?? 0) * SECOND_MS;
    const range = rangeOf({ ...query, location }, intervalMs, timeZone);
    const view = readMonitorView(ctx.db, params.id, range, now, monitoring);
    const nextCheckAt = monitoring.nextCheckAt(row.id);
    return {
      title: row.name,
      children: <MonitorDetail {...{ view, nextCheckAt, role, baseUrl: ctx.baseUrl, now }} />,
    };
  });

  area.action("/:id/pause", {
    role: "admin",
    run(tx, { params: { id } }, actor) {
      const { version } = getMonitorRecord(tx, id).row;
      return pauseMonitor(ctx, tx, id, actor).row.version !== version;
    },
    done: (isChanged, { params, query }) => ({
      path: homeOf(params.id, query),
      text: isChanged
        ? "The monitor was paused. Statuses set by the monitor have ended."
        : undefined,
    }),
  });

  area.action("/:id/resume", {
    role: "admin",
    run(tx, { params: { id } }, actor) {
      const { version } = getMonitorRecord(tx, id).row;
      return resumeMonitor(ctx, tx, id, actor).row.version !== version;
    },
    done: (isChanged, { params, query }) => ({
      path: homeOf(params.id, query),
      text: isChanged ? "The monitor was resumed." : undefined,
    }),
  });

  area.form("/:id/acknowledge", {
    role: "editor",
    form: ACKNOWLEDGE_FORM,
    load(reader, { params, sent }) {
      const { row, state } = getMonitorRecord(reader, params.id);
      // It recovered or was acknowledged meanwhile. A submitted form gets the reason.
      if (!isUnacknowledged(state) && sent === undefined) {
        throw new ShowInstead({ path: monitorPath(row.id) });
      }
      return row.name;
    },
    show: ({ context: name }) => ({
      title: `Acknowledge the outage of “${name}”`,
      button: "Acknowledge",
      dialog: (
        <p>
          Your team sees that you look after it, and no reminders are sent until the monitor
          recovers. Status pages do not show it.
        </p>
      ),
    }),
    submit: (tx, body, actor, { params: { id } }) =>
      acknowledgeMonitor(ctx, tx, id, validate(AcknowledgeBody, body), actor).row.id,
    done: (id) => ({ path: monitorPath(id), text: "The outage is acknowledged." }),
  });

  area.deletion({
    noun: "monitor",
    role: "admin",
    find: getMonitorRecord,
    nameOf: ({ row }) => row.name,
    consequences: (record) => {
      const { row } = record;
      const container = findContainerOf(ctx.db, record);
      return (
        <>
          <p>
            Checks stop, and the results are no longer visible. Statuses set by the monitor end now,
            and stay in the history of the components. This cannot be undone.
          </p>
          <WebhooksLeft webhooks={listWebhooksOnlyFor(ctx.db, new Set([row.id]))} />
          {container ? <RecreatedByLabels source={container} /> : null}
          {row.paused ? null : <p>To stop the monitor for a while, pause it instead.</p>}
        </>
      );
    },
    remove: (tx, { row }, actor) => deleteMonitor(ctx, tx, row.id, actor),
  });

  area.secretForm("/:id/rotate", {
    role: "admin",
    form: ROTATE_FORM,
    load(reader, { params, sent }) {
      const record = getMonitorRecord(reader, params.id);
      // A submitted form is rejected by the service, with the reason.
      if (!isPassive(record.row.type) && sent === undefined) {
        throw new ShowInstead({ path: monitorPath(params.id) });
      }
      return { record };
    },
    show(state) {
      return {
        title: `Rotate the token of “${state.context.record.row.name}”`,
        button: "Rotate token",
        dialog: (
          <p>
            The job gets a new address to call, which is shown once. The current address is refused
            from then on, so the monitor goes down unless you update the job in time.
          </p>
        ),
      };
    },
    create: (tx, _, actor, { params: { id } }) => ({
      made: rotateToken(ctx, tx, id, actor),
      subjectId: id,
    }),
    reveal: (reveal) => showToken(ctx, reveal, "Your new address"),
  });

  area.confirmation("/:id/tokens/:key/end", {
    role: "admin",
    show({ params }) {
      const { row } = getMonitorRecord(ctx.db, params.id);
      const token = tokensOf(ctx.db, row.id).find(({ key }) => key === params.key);
      // It was ended meanwhile.
      if (!token) return { path: monitorPath(row.id) };
      return {
        title: `End a token of “${row.name}”`,
        button: "End token",
        isDanger: true,
        dialog: (
          <p>
            {tokenKindInWords(token.kind)}. Calls with it are refused from now on, and the monitor
            goes down if its job has no other token.
          </p>
        ),
        cancelHref: monitorPath(row.id),
      };
    },
    run: (tx, { params: { id, key } }, actor) => endToken(ctx, tx, id, key, actor),
    done: (_, { params }) => ({ path: monitorPath(params.id), text: "The token was ended." }),
  });

  area.confirmation("/:id/end-alerts/:key", {
    role: "editor",
    show({ params }) {
      const { row } = getMonitorRecord(ctx.db, params.id);
      const [first, ...others] = findOpenAlerts(ctx.db, row.num, params.key);
      // They have ended meanwhile.
      if (!first) return { path: monitorPath(row.id) };
      const isAll = params.key === ALL_ALERTS;
      return {
        title: isAll ? `End the open alerts of “${row.name}”` : "End the alert",
        button: isAll ? "Nothing is firing" : "End alert",
        dialog: (
          <p>
            {others.length === 0 ? `${first.title}.` : `${others.length + 1} alerts.`} An alert
            opens again if a sender reports it again. Use this if you know that it does not fire any
            more.
          </p>
        ),
        cancelHref: monitorPath(row.id),
      };
    },
    run: (tx, { params }, actor) => endAlerts(ctx, tx, monitoring, params, actor),
    done: (ended, { params }) => ({
      path: monitorPath(params.id),
      text: `${plural(ended, "open alert")} ended.`,
    }),
  });

  return addSelectionRoutes(area, deps).post(
    "/:id/check",
    async ({ requestContext, params, query }) => {
      const { row, locations } = getMonitorRecord(ctx.db, params.id);
      requireActiveCheck(row);
      const recorder = new StepRecorder(ctx.clock);
      const check = await monitoring.checkNow(row.id, recorder);
      const { steps } = recorder;
      const each = checksByLocation(check, steps, locations);
      const zone = zoneOf(requestContext);
      const result = each ? resultsInWords(each, zone) : resultInWords(check, steps, zone);
      const details = each ? (
        <LocationSteps checks={each} />
      ) : steps.length === 0 ? undefined : (
        <CheckSteps steps={steps} />
      );
      flashes.put(sessionOf(requestContext).id, { ...result, details });
      return seeOther(homeOf(row.id, query));
    },
    { ...formBody(), ...screenOperation(session("admin")) },
  );
}
