import { listDeliveries } from "../../../src/features/webhooks";
import { byKey, type VerbHouse, type Verbs } from "./verb";

const FOUND_OUT = "it tells how something is, and changes nothing that somebody set";

/** A push monitor of which a job tells, and its token. */
async function pushToken(house: VerbHouse): Promise<string> {
  const made = await house.api("POST", "/monitors", {
    type: "push",
    name: "Backup",
    interval_seconds: 60,
  });
  return (made as { token?: string }).token ?? "";
}

/** What changes something by API. */
export const API_VERBS: Verbs = {
  "PATCH /api/v1/components": {
    leaves: ["component.set_status"],
    prepare: (house) =>
      byKey(house, "PATCH", "/components", {
        components: { [house.components["API"] ?? ""]: "major_outage" },
      }),
  },
  "PATCH /api/v1/components/:id": {
    leaves: ["component.set_status"],
    prepare: (house) =>
      byKey(house, "PATCH", `/components/${house.components["API"]}`, { status: "major_outage" }),
  },
  "POST /api/v1/incidents": {
    leaves: ["incident.create"],
    prepare: (house) =>
      byKey(house, "POST", "/incidents", { page: "acme", name: "Down", body: "It is down." }),
  },
  "PATCH /api/v1/incidents/:id": {
    leaves: ["incident.update"],
    prepare: async (house) =>
      byKey(house, "PATCH", `/incidents/${await house.incident()}`, { name: "Up" }),
  },
  "POST /api/v1/incidents/:id/updates": {
    leaves: ["incident.add_update"],
    prepare: async (house) =>
      byKey(house, "POST", `/incidents/${await house.incident()}/updates`, { body: "Still." }),
  },
  "PATCH /api/v1/incidents/:id/updates/:update_id": {
    leaves: ["incident.edit_update"],
    async prepare(house) {
      const path = `/incidents/${await house.incident()}/updates`;
      const { id } = await house.api("POST", path, { body: "Still." });
      return byKey(house, "PATCH", `${path}/${id}`, { body: "No more." });
    },
  },
  "PUT /api/v1/incidents/:id/postmortem": {
    leaves: ["incident.write_postmortem"],
    prepare: async (house) =>
      byKey(house, "PUT", `/incidents/${await house.incident()}/postmortem`, { body: "Why." }),
  },
  "POST /api/v1/maintenance": {
    leaves: ["maintenance.plan"],
    prepare: (house) =>
      byKey(house, "POST", "/maintenance", {
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
    prepare: async (house) =>
      byKey(house, "PATCH", `/maintenance/${await house.maintenance()}`, { name: "Another" }),
  },
  "POST /api/v1/maintenance/:id/updates": {
    leaves: ["maintenance.add_update"],
    prepare: async (house) =>
      byKey(house, "POST", `/maintenance/${await house.maintenance()}/updates`, { body: "Soon." }),
  },
  "POST /api/v1/maintenance/:id/cancel": {
    leaves: ["maintenance.cancel"],
    prepare: async (house) =>
      byKey(house, "POST", `/maintenance/${await house.maintenance()}/cancel`),
  },
  "POST /api/v1/webhooks": {
    leaves: ["webhook.create"],
    prepare: (house) => byKey(house, "POST", "/webhooks", { url: "https://a.example.com" }),
  },
  "PATCH /api/v1/webhooks/:id": {
    leaves: ["webhook.update", "webhook.disable"],
    prepare: async (house) =>
      byKey(house, "PATCH", `/webhooks/${(await house.webhook()).id}`, {
        description: "Pager",
        enabled: false,
      }),
  },
  "DELETE /api/v1/webhooks/:id": {
    leaves: ["webhook.delete"],
    prepare: async (house) => byKey(house, "DELETE", `/webhooks/${(await house.webhook()).id}`),
  },
  "POST /api/v1/webhooks/:id/rotate-secret": {
    leaves: ["webhook.rotate_secret"],
    prepare: async (house) =>
      byKey(house, "POST", `/webhooks/${(await house.webhook()).id}/rotate-secret`),
  },
  "POST /api/v1/webhooks/:id/test": {
    leaves: ["webhook.test"],
    prepare: async (house) => byKey(house, "POST", `/webhooks/${(await house.webhook()).id}/test`),
  },
  "POST /api/v1/webhooks/:id/deliveries/:delivery_id/redeliver": {
    leaves: ["webhook.redeliver"],
    async prepare(house) {
      const { path } = await deliveryOf(house);
      return byKey(house, "POST", `${path}/redeliver`);
    },
  },
  "POST /api/v1/monitors": {
    leaves: ["monitor.create"],
    prepare: (house) =>
      byKey(house, "POST", "/monitors", {
        type: "tcp",
        name: "Port",
        config: { host: "a.example.com", port: 80 },
      }),
  },
  "PATCH /api/v1/monitors/:id": {
    leaves: ["monitor.update"],
    prepare: async (house) =>
      byKey(house, "PATCH", `/monitors/${await house.monitor()}`, { name: "Another" }),
  },
  "DELETE /api/v1/monitors/:id": {
    leaves: ["monitor.delete"],
    prepare: async (house) => byKey(house, "DELETE", `/monitors/${await house.monitor()}`),
  },
  "POST /api/v1/monitors/:id/pause": {
    leaves: ["monitor.pause"],
    prepare: async (house) => byKey(house, "POST", `/monitors/${await house.monitor()}/pause`),
  },
  "POST /api/v1/monitors/:id/resume": {
    leaves: ["monitor.resume"],
    async prepare(house) {
      const path = `/monitors/${await house.monitor({ paused: true })}`;
      return byKey(house, "POST", `${path}/resume`);
    },
  },
  "POST /api/v1/monitors/:id/rotate-token": {
    leaves: ["monitor.rotate_token"],
    async prepare(house) {
      const { id } = await house.api("POST", "/monitors", {
        type: "push",
        name: "Backup",
        interval_seconds: 60,
      });
      return byKey(house, "POST", `/monitors/${id}/rotate-token`);
    },
  },
  "POST /api/v1/monitors/:id/check": {
    leaves: [],
    because: FOUND_OUT,
    prepare: async (house) => byKey(house, "POST", `/monitors/${await house.monitor()}/check`),
  },
  "POST /api/v1/heartbeats/:token": {
    leaves: [],
    because: FOUND_OUT,
    prepare: async (house) => ({
      path: `/api/v1/heartbeats/${await pushToken(house)}`,
      options: { method: "POST" },
    }),
  },
  "POST /api/v1/heartbeats": {
    leaves: [],
    because: FOUND_OUT,
    prepare: async (house) => ({
      path: "/api/v1/heartbeats",
      options: { method: "POST", key: await pushToken(house) },
    }),
  },
};

/** A delivery of a webhook, by the path of both below the API or the dashboard's webhooks. */
export async function deliveryOf(house: VerbHouse): Promise<{ path: string }> {
  const { id } = await house.webhook();
  await house.incident();
  const [delivery] = listDeliveries(house.app.ctx.db, {
    webhookId: id,
    status: null,
    before: "~",
    limit: 1,
  });
  return { path: `/webhooks/${id}/deliveries/${delivery?.row.id}` };
}
