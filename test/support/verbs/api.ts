import { listDeliveries } from "../../../src/features/webhooks/deliveries";
import { alertmanagerBody } from "../alert-reports";
import { callOf } from "../mcp";
import { downMonitor } from "./monitors";
import { byKey, type ActionInstallation, type Verbs } from "./verb";

const FOUND_OUT = "it records observations and changes no setting";

/** Creates a push monitor and returns its token. */
async function pushToken(installation: ActionInstallation): Promise<string> {
  const made = await installation.api("POST", "/monitors", {
    type: "push",
    name: "Backup",
    interval_seconds: 60,
  });
  return (made as { token?: string }).token ?? "";
}

/** API requests that change something. */
export const API_VERBS: Verbs = {
  "PATCH /api/v1/components": {
    leaves: ["component.set_status"],
    prepare: (installation) =>
      byKey(installation, "PATCH", "/components", {
        components: { [installation.components["API"] ?? ""]: "major_outage" },
      }),
  },
  "PATCH /api/v1/components/:id": {
    leaves: ["component.set_status"],
    prepare: (installation) =>
      byKey(installation, "PATCH", `/components/${installation.components["API"]}`, {
        status: "major_outage",
      }),
  },
  "POST /api/v1/incidents": {
    leaves: ["incident.create"],
    prepare: (installation) =>
      byKey(installation, "POST", "/incidents", {
        page: "acme",
        name: "Down",
        body: "It is down.",
      }),
  },
  "POST /mcp": {
    leaves: ["incident.create"],
    prepare: ({ key }) => ({
      path: "/mcp",
      options: callOf(key, "draft_incident", {
        page: "acme",
        name: "Down",
        body: "It is down.",
      }),
    }),
  },
  "PATCH /api/v1/incidents/:id": {
    leaves: ["incident.update"],
    prepare: async (installation) =>
      byKey(installation, "PATCH", `/incidents/${await installation.incident()}`, { name: "Up" }),
  },
  "POST /api/v1/incidents/:id/updates": {
    leaves: ["incident.add_update"],
    prepare: async (installation) =>
      byKey(installation, "POST", `/incidents/${await installation.incident()}/updates`, {
        body: "Still.",
      }),
  },
  "PATCH /api/v1/incidents/:id/updates/:update_id": {
    leaves: ["incident.edit_update"],
    async prepare(installation) {
      const path = `/incidents/${await installation.incident()}/updates`;
      const { id } = await installation.api("POST", path, { body: "Still." });
      return byKey(installation, "PATCH", `${path}/${id}`, { body: "No more." });
    },
  },
  "PUT /api/v1/incidents/:id/postmortem": {
    leaves: ["incident.write_postmortem"],
    prepare: async (installation) =>
      byKey(installation, "PUT", `/incidents/${await installation.incident()}/postmortem`, {
        body: "Why.",
      }),
  },
  "POST /api/v1/maintenance": {
    leaves: ["maintenance.plan"],
    prepare: (installation) =>
      byKey(installation, "POST", "/maintenance", {
        page: "acme",
        name: "Upgrade",
        body: "A minute.",
        components: [],
        scheduled_for: "2030-01-01T00:00:00Z",
        scheduled_until: "2030-01-01T01:00:00Z",
      }),
  },
  "PATCH /api/v1/maintenance/:id": {
    leaves: ["maintenance.update"],
    prepare: async (installation) =>
      byKey(installation, "PATCH", `/maintenance/${await installation.maintenance()}`, {
        name: "Another",
      }),
  },
  "POST /api/v1/maintenance/:id/updates": {
    leaves: ["maintenance.add_update"],
    prepare: async (installation) =>
      byKey(installation, "POST", `/maintenance/${await installation.maintenance()}/updates`, {
        body: "Soon.",
      }),
  },
  "POST /api/v1/maintenance/:id/cancel": {
    leaves: ["maintenance.cancel"],
    prepare: async (installation) =>
      byKey(installation, "POST", `/maintenance/${await installation.maintenance()}/cancel`),
  },
  "POST /api/v1/webhooks": {
    leaves: ["webhook.create"],
    prepare: (installation) =>
      byKey(installation, "POST", "/webhooks", { url: "https://a.example.com" }),
  },
  "PATCH /api/v1/webhooks/:id": {
    leaves: ["webhook.update", "webhook.disable"],
    prepare: async (installation) =>
      byKey(installation, "PATCH", `/webhooks/${(await installation.webhook()).id}`, {
        description: "Pager",
        enabled: false,
      }),
  },
  "DELETE /api/v1/webhooks/:id": {
    leaves: ["webhook.delete"],
    prepare: async (installation) =>
      byKey(installation, "DELETE", `/webhooks/${(await installation.webhook()).id}`),
  },
  "POST /api/v1/webhooks/:id/rotate-secret": {
    leaves: ["webhook.rotate_secret"],
    prepare: async (installation) =>
      byKey(installation, "POST", `/webhooks/${(await installation.webhook()).id}/rotate-secret`),
  },
  "POST /api/v1/webhooks/:id/test": {
    leaves: ["webhook.test"],
    prepare: async (installation) =>
      byKey(installation, "POST", `/webhooks/${(await installation.webhook()).id}/test`),
  },
  "POST /api/v1/webhooks/:id/deliveries/:delivery_id/redeliver": {
    leaves: ["webhook.redeliver"],
    async prepare(installation) {
      const { path } = await deliveryOf(installation);
      return byKey(installation, "POST", `${path}/redeliver`);
    },
  },
  "POST /api/v1/monitors": {
    leaves: ["monitor.create"],
    prepare: (installation) =>
      byKey(installation, "POST", "/monitors", {
        type: "tcp",
        name: "Port",
        config: { host: "a.example.com", port: 80 },
      }),
  },
  "PATCH /api/v1/monitors/:id": {
    leaves: ["monitor.update"],
    prepare: async (installation) =>
      byKey(installation, "PATCH", `/monitors/${await installation.monitor()}`, {
        name: "Another",
      }),
  },
  "DELETE /api/v1/monitors/:id": {
    leaves: ["monitor.delete"],
    prepare: async (installation) =>
      byKey(installation, "DELETE", `/monitors/${await installation.monitor()}`),
  },
  "POST /api/v1/monitors/:id/pause": {
    leaves: ["monitor.pause"],
    prepare: async (installation) =>
      byKey(installation, "POST", `/monitors/${await installation.monitor()}/pause`),
  },
  "POST /api/v1/monitors/:id/resume": {
    leaves: ["monitor.resume"],
    async prepare(installation) {
      const path = `/monitors/${await installation.monitor({ paused: true })}`;
      return byKey(installation, "POST", `${path}/resume`);
    },
  },
  "POST /api/v1/monitors/:id/acknowledge": {
    leaves: ["monitor.acknowledge"],
    prepare: async (installation) =>
      byKey(installation, "POST", `/monitors/${await downMonitor(installation)}/acknowledge`),
  },
  "POST /api/v1/monitors/:id/rotate-token": {
    leaves: ["monitor.rotate_token"],
    async prepare(installation) {
      const { id } = await installation.api("POST", "/monitors", {
        type: "push",
        name: "Backup",
        interval_seconds: 60,
      });
      return byKey(installation, "POST", `/monitors/${id}/rotate-token`);
    },
  },
  "POST /api/v1/monitors/:id/check": {
    leaves: [],
    because: FOUND_OUT,
    prepare: async (installation) =>
      byKey(installation, "POST", `/monitors/${await installation.monitor()}/check`),
  },
  "POST /api/v1/alerts": {
    leaves: [],
    because: FOUND_OUT,
    prepare: (installation) => byKey(installation, "POST", "/alerts", alertmanagerBody()),
  },
  "POST /api/v1/heartbeats/:token": {
    leaves: [],
    because: FOUND_OUT,
    prepare: async (installation) => ({
      path: `/api/v1/heartbeats/${await pushToken(installation)}`,
      options: { method: "POST" },
    }),
  },
  "POST /api/v1/heartbeats/:token/:signal": {
    leaves: [],
    because: FOUND_OUT,
    prepare: async (installation) => ({
      path: `/api/v1/heartbeats/${await pushToken(installation)}/start`,
      options: { method: "POST" },
    }),
  },
  "POST /api/v1/heartbeats": {
    leaves: [],
    because: FOUND_OUT,
    prepare: async (installation) => ({
      path: "/api/v1/heartbeats",
      options: { method: "POST", key: await pushToken(installation) },
    }),
  },
};

/** Returns the path of a delivery below the webhooks of API or dashboard. */
export async function deliveryOf(installation: ActionInstallation): Promise<{ path: string }> {
  const { id } = await installation.webhook();
  await installation.incident();
  const [delivery] = listDeliveries(installation.app.ctx.db, {
    webhookId: id,
    status: null,
    before: "~",
    limit: 1,
  });
  return { path: `/webhooks/${id}/deliveries/${delivery?.row.id}` };
}
