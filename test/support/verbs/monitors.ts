import { saveOpenAlert } from "../../../src/features/monitors/alerts/alert-store";
import { keyOfAlert } from "../../../src/features/monitors/alerts/reports";
import { applyTransition } from "../../../src/features/monitors/engine/transitions";
import { getMonitorRecord } from "../../../src/features/monitors/records";
import { newEvaluation } from "../../../src/features/monitors/rules";
import { tokensOf } from "../../../src/features/monitors/tokens";
import { formOf } from "../monitor-dashboard";
import { byForm, type Sent, type ActionInstallation, type Verbs } from "./verb";

const FOUND_OUT = "it records observations and changes no setting";

/** Opens the form at a path and returns it filled in, with these fields changed. */
async function filledIn(
  installation: ActionInstallation,
  path: string,
  fields: Record<string, string>,
): Promise<Sent> {
  const { app, session } = installation;
  const { text } = await app.call(`/admin${path}`, { session });
  return byForm(installation, path.replace(/\?.*/, ""), { ...formOf(text), ...fields });
}

/** Creates a monitor that is down. */
export async function downMonitor(installation: ActionInstallation): Promise<string> {
  const { ctx } = installation.app;
  const id = await installation.monitor();
  await ctx.db.write((tx) => {
    const { row } = getMonitorRecord(tx, id);
    const evaluation = newEvaluation("down", ctx.clock.now());
    applyTransition(ctx, tx, row, { from: "pending", evaluation, message: null });
  });
  return id;
}

async function monitorForm(
  installation: ActionInstallation,
  verb: string,
  more = {},
): Promise<Sent> {
  return byForm(installation, `/monitors/${await installation.monitor(more)}/${verb}`, {
    form: "1",
  });
}

/** Creates a monitor with an open alert. */
async function openAlert(
  installation: ActionInstallation,
): Promise<{ id: string; key: string | undefined }> {
  const { app } = installation;
  const id = await installation.monitor({ type: "alert", config: { format: "alertmanager" } });
  const { num: monitorNum } = getMonitorRecord(app.ctx.db, id).row;
  const alert = {
    monitorNum,
    sender: "key_1",
    fingerprint: "f",
    labels: {},
    level: "down",
    startedAt: 1,
    lastSeenAt: app.ctx.clock.now(),
    title: "Errors",
  } as const;
  await app.ctx.db.write((tx) => saveOpenAlert(tx, alert));
  return { id, key: keyOfAlert(alert) };
}

/** Dashboard requests that change monitors. */
export const MONITOR_VERBS: Verbs = {
  "POST /admin/monitors/new": {
    leaves: ["monitor.create"],
    prepare: (installation) =>
      filledIn(installation, "/monitors/new?type=http", {
        name: "Shop",
        config_url: "https://shop.example.com/",
      }),
  },
  "POST /admin/monitors/:id/edit": {
    leaves: ["monitor.update"],
    prepare: async (installation) =>
      filledIn(installation, `/monitors/${await installation.monitor()}/edit`, { name: "Another" }),
  },
  "POST /admin/monitors/:id/pause": {
    leaves: ["monitor.pause"],
    prepare: (installation) => monitorForm(installation, "pause"),
  },
  "POST /admin/monitors/:id/resume": {
    leaves: ["monitor.resume"],
    prepare: (installation) => monitorForm(installation, "resume", { paused: true }),
  },
  "POST /admin/monitors/:id/acknowledge": {
    leaves: ["monitor.acknowledge"],
    prepare: async (installation) =>
      filledIn(installation, `/monitors/${await downMonitor(installation)}/acknowledge`, {}),
  },
  "POST /admin/monitors/:id/rotate": {
    leaves: ["monitor.rotate_token"],
    prepare: (installation) =>
      monitorForm(installation, "rotate", { type: "push", interval_seconds: 60, config: {} }),
  },
  "POST /admin/monitors/:id/tokens/:key/end": {
    leaves: ["monitor.end_token"],
    async prepare(installation) {
      const id = await installation.monitor({ type: "push", interval_seconds: 60, config: {} });
      const [token] = tokensOf(installation.app.ctx.db, id);
      return byForm(installation, `/monitors/${id}/tokens/${token?.key}/end`, { form: "1" });
    },
  },
  "POST /admin/monitors/:id/end-alerts/:key": {
    leaves: ["monitor.end_alerts"],
    async prepare(installation) {
      const { id, key } = await openAlert(installation);
      return byForm(installation, `/monitors/${id}/end-alerts/${key}`, { form: "1" });
    },
  },
  "POST /admin/monitors/:id/delete": {
    leaves: ["monitor.delete"],
    prepare: (installation) => monitorForm(installation, "delete"),
  },
  "POST /admin/monitors/selected": {
    leaves: ["monitor.pause"],
    prepare: async (installation) => {
      const form = { id: await installation.monitor(), intent: "pause" };
      return byForm(installation, "/monitors/selected", form);
    },
  },
  "POST /admin/monitors/selected/delete": {
    leaves: ["monitor.delete"],
    prepare: async (installation) => {
      const form = { id: await installation.monitor() };
      return byForm(installation, "/monitors/selected/delete", form);
    },
  },
  "POST /admin/monitors/selected/tag": {
    leaves: ["monitor.update"],
    prepare: async (installation) => {
      const form = { id: await installation.monitor(), tag: "production", action: "add" };
      return byForm(installation, "/monitors/selected/tag", form);
    },
  },
  "POST /admin/monitors/:id/check": {
    leaves: [],
    because: FOUND_OUT,
    prepare: (installation) => monitorForm(installation, "check"),
  },
};
