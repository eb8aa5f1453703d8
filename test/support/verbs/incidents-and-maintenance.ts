import { getIncident } from "../../../src/features/incidents/records";
import { createStorm } from "../storm-site";
import { byForm, type Verb, type ActionInstallation, type Verbs } from "./verb";

const PREVIEW = "it shows what would be, and takes it back";

function reportOf({ pageId }: ActionInstallation) {
  return {
    page: pageId,
    shown_page: pageId,
    name: "Down",
    body: "It is down.",
    form: "1",
  };
}

function planOf({ pageId, components }: ActionInstallation) {
  return {
    ...reportOf({ pageId } as ActionInstallation),
    components: [components["API"] ?? ""],
    scheduled_for: "2030-01-01T00:00",
    lasts: "60",
    scheduled_until: "",
    remind_minutes_before: "60",
  };
}

async function newestUpdate({ app }: ActionInstallation, id: string): Promise<string> {
  return getIncident(app.ctx.db, id, true).updates[0]?.id ?? "";
}

/** Returns the preview of the same form. */
function previewOf(verb: Verb): Verb {
  return {
    leaves: [],
    because: PREVIEW,
    async prepare(installation) {
      const { path, options } = await verb.prepare(installation);
      return { path: `${path}/preview`, options };
    },
  };
}

const report: Verb = {
  leaves: ["incident.create"],
  prepare: (installation) => byForm(installation, "/incidents/new", reportOf(installation)),
};
const addUpdate: Verb = {
  leaves: ["incident.add_update"],
  async prepare(installation) {
    const path = `/incidents/${await installation.incident()}/updates`;
    return byForm(installation, path, { form: "1", status: "identified", body: "Known." });
  },
};
const publish: Verb = {
  leaves: ["incident.publish"],
  async prepare(installation) {
    const id = await installation.incident({ draft: true });
    return byForm(installation, `/incidents/${id}/publish`);
  },
};
const postmortem: Verb = {
  leaves: ["incident.write_postmortem"],
  async prepare(installation) {
    const path = `/incidents/${await installation.incident()}/postmortem`;
    return byForm(installation, path, {
      version: await installation.version(path),
      body: "Why.",
      do: "publish",
    });
  },
};
const plan: Verb = {
  leaves: ["maintenance.plan"],
  prepare: (installation) => byForm(installation, "/maintenance/new", planOf(installation)),
};
const addMaintenanceUpdate: Verb = {
  leaves: ["maintenance.add_update"],
  prepare: async (installation) =>
    byForm(installation, `/maintenance/${await installation.maintenance()}`, {
      form: "1",
      body: "Soon.",
    }),
};

function step(name: "start" | "finish" | "cancel", action: string): Verb {
  return {
    leaves: [action],
    async prepare(installation) {
      const id = await installation.maintenance();
      if (name === "finish") {
        const update = { status: "in_progress", body: "It begins." };
        await installation.api("POST", `/maintenance/${id}/updates`, update);
      }
      return byForm(installation, `/maintenance/${id}/${name}`, {
        form: "1",
        body: "Working on it.",
      });
    },
  };
}

/** Dashboard requests that change incidents, maintenance or component statuses. */
export const INCIDENT_VERBS: Verbs = {
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
    async prepare(installation) {
      const path = `/incidents/${await installation.incident()}/edit`;
      const version = await installation.version(path);
      return byForm(installation, path, { version, name: "Up", started_at: "2026-03-10T11:00" });
    },
  },
  "POST /admin/incidents/:id/updates/:update_id": {
    leaves: ["incident.edit_update"],
    async prepare(installation) {
      const id = await installation.incident();
      const path = `/incidents/${id}/updates/${await newestUpdate(installation, id)}`;
      const version = await installation.version(path);
      return byForm(installation, path, {
        version,
        body: "Otherwise.",
        display_at: "2026-03-10T11:00",
      });
    },
  },
  "POST /admin/incidents/:id/split-off": {
    leaves: ["incident.create", "incident.add_update", "incident.split_off"],
    bySystem: "incident.add_update",
    async prepare(installation) {
      const { app } = installation;
      const { incidentId, monitors } = await createStorm(app, { count: 2, slug: "storm" });
      const path = `/incidents/${incidentId}/split-off`;
      return byForm(installation, path, { form: "1", monitors: monitors[0] ?? "" });
    },
  },
  "POST /admin/incidents/:id/delete": {
    leaves: ["incident.delete"],
    prepare: async (installation) =>
      byForm(installation, `/incidents/${await installation.incident()}/delete`),
  },
  "POST /admin/maintenance/new": plan,
  "POST /admin/maintenance/new/preview": previewOf(plan),
  "POST /admin/maintenance/:id": addMaintenanceUpdate,
  "POST /admin/maintenance/:id/preview": previewOf(addMaintenanceUpdate),
  "POST /admin/maintenance/:id/edit": {
    leaves: ["maintenance.update"],
    async prepare(installation) {
      const path = `/maintenance/${await installation.maintenance()}/edit`;
      const version = await installation.version(path);
      const times = { scheduled_for: "2030-01-01T00:00", scheduled_until: "2030-01-01T01:00" };
      const fields = { version, name: "Another", lasts: "until", remind_minutes_before: "60" };
      return byForm(installation, path, { ...fields, ...times });
    },
  },
  "POST /admin/maintenance/:id/start": step("start", "maintenance.add_update"),
  "POST /admin/maintenance/:id/finish": step("finish", "maintenance.add_update"),
  "POST /admin/maintenance/:id/cancel": step("cancel", "maintenance.cancel"),
  "POST /admin/components/:id/status": {
    leaves: ["component.set_status"],
    prepare: (installation) =>
      byForm(installation, `/components/${installation.components["API"]}/status`, {
        status: "major_outage",
      }),
  },
};
