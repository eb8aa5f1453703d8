import { getIncident } from "../../../src/features/incidents";
import { byForm, type Verb, type VerbHouse, type Verbs } from "./verb";

const PREVIEW = "it shows what would be, and takes it back";

function reportOf({ pageId }: VerbHouse, more: object = {}) {
  return {
    page: pageId,
    shown_page: pageId,
    name: "Down",
    body: "It is down.",
    form: "1",
    ...more,
  };
}

function planOf({ pageId, components }: VerbHouse) {
  return {
    ...reportOf({ pageId } as VerbHouse),
    components: [components["API"] ?? ""],
    scheduled_for: "2030-01-01T00:00",
    lasts: "60",
    scheduled_until: "",
    remind_minutes_before: "60",
  };
}

async function newestUpdate({ app }: VerbHouse, id: string): Promise<string> {
  return getIncident(app.ctx.db, id, true).updates[0]?.id ?? "";
}

/** The same form as what does it for good. */
function previewOf(verb: Verb): Verb {
  return {
    leaves: [],
    because: PREVIEW,
    async prepare(house) {
      const { path, options } = await verb.prepare(house);
      return { path: `${path}/preview`, options };
    },
  };
}

const report: Verb = {
  leaves: ["incident.create"],
  prepare: (house) => byForm(house, "/incidents/new", reportOf(house)),
};
const addUpdate: Verb = {
  leaves: ["incident.add_update"],
  async prepare(house) {
    const path = `/incidents/${await house.incident()}/updates`;
    return byForm(house, path, { form: "1", status: "identified", body: "Known." });
  },
};
const publish: Verb = {
  leaves: ["incident.publish"],
  async prepare(house) {
    const id = await house.incident({ draft: true });
    return byForm(house, `/incidents/${id}/publish`);
  },
};
const postmortem: Verb = {
  leaves: ["incident.write_postmortem"],
  async prepare(house) {
    const path = `/incidents/${await house.incident()}/postmortem`;
    return byForm(house, path, { version: await house.version(path), body: "Why.", do: "publish" });
  },
};
const plan: Verb = {
  leaves: ["maintenance.plan"],
  prepare: (house) => byForm(house, "/maintenance/new", planOf(house)),
};
const tellOfMaintenance: Verb = {
  leaves: ["maintenance.add_update"],
  prepare: async (house) =>
    byForm(house, `/maintenance/${await house.maintenance()}`, { form: "1", body: "Soon." }),
};

function step(name: "start" | "finish" | "cancel", action: string): Verb {
  return {
    leaves: [action],
    async prepare(house) {
      const id = await house.maintenance();
      if (name === "finish") {
        const update = { status: "in_progress", body: "It begins." };
        await house.api("POST", `/maintenance/${id}/updates`, update);
      }
      return byForm(house, `/maintenance/${id}/${name}`, { form: "1", body: "Told." });
    },
  };
}

/** What changes something by the dashboard: incidents, maintenance and what components show. */
export const TELLING_VERBS: Verbs = {
  "POST /admin/incidents/new": report,
  "POST /admin/incidents/new/preview": previewOf(report),
  "POST /admin/incidents/:id/updates": addUpdate,
  "POST /admin/incidents/:id/updates/preview": previewOf(addUpdate),
  "POST /admin/incidents/:id/publish": publish,
  "POST /admin/incidents/:id/publish/preview": previewOf(publish),
  "POST /admin/incidents/:id/postmortem": postmortem,
  "POST /admin/incidents/:id/postmortem/preview": previewOf(postmortem),
  "POST /admin/incidents/:id/edit": {
    leaves: ["incident.update"],
    async prepare(house) {
      const path = `/incidents/${await house.incident()}/edit`;
      const version = await house.version(path);
      return byForm(house, path, { version, name: "Up", started_at: "2026-03-10T11:00" });
    },
  },
  "POST /admin/incidents/:id/updates/:update_id": {
    leaves: ["incident.edit_update"],
    async prepare(house) {
      const id = await house.incident();
      const path = `/incidents/${id}/updates/${await newestUpdate(house, id)}`;
      const version = await house.version(path);
      return byForm(house, path, { version, body: "Otherwise.", display_at: "2026-03-10T11:00" });
    },
  },
  "POST /admin/incidents/:id/delete": {
    leaves: ["incident.delete"],
    prepare: async (house) => byForm(house, `/incidents/${await house.incident()}/delete`),
  },
  "POST /admin/maintenance/new": plan,
  "POST /admin/maintenance/new/preview": previewOf(plan),
  "POST /admin/maintenance/:id": tellOfMaintenance,
  "POST /admin/maintenance/:id/preview": previewOf(tellOfMaintenance),
  "POST /admin/maintenance/:id/edit": {
    leaves: ["maintenance.update"],
    async prepare(house) {
      const path = `/maintenance/${await house.maintenance()}/edit`;
      const version = await house.version(path);
      const times = { scheduled_for: "2030-01-01T00:00", scheduled_until: "2030-01-01T01:00" };
      const fields = { version, name: "Another", lasts: "until", remind_minutes_before: "60" };
      return byForm(house, path, { ...fields, ...times });
    },
  },
  "POST /admin/maintenance/:id/start": step("start", "maintenance.add_update"),
  "POST /admin/maintenance/:id/finish": step("finish", "maintenance.add_update"),
  "POST /admin/maintenance/:id/cancel": step("cancel", "maintenance.cancel"),
  "POST /admin/components/:id/status": {
    leaves: ["component.set_status"],
    prepare: (house) =>
      byForm(house, `/components/${house.components["API"]}/status`, { status: "major_outage" }),
  },
};
