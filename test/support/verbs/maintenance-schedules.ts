import { byForm, byKey, type ActionInstallation, type Verbs } from "./verb";

const FIELDS = {
  name: "Weekly restart",
  body: "A minute without it.",
  cron: "0 2 * * MON",
  duration_minutes: 30,
};

const PATH = "/maintenance/schedules";
const TYPED = { ...FIELDS, duration_minutes: "30", remind_minutes_before: "60", enabled: "yes" };

/** Creates a schedule and returns its id. */
async function schedule({ api }: ActionInstallation): Promise<string> {
  return (await api("POST", "/maintenance-schedules", { page: "acme", ...FIELDS })).id;
}

/** Requests that change maintenance schedules. */
export const SCHEDULE_VERBS: Verbs = {
  "POST /api/v1/maintenance-schedules": {
    leaves: ["maintenance_schedule.create"],
    prepare: (installation) =>
      byKey(installation, "POST", "/maintenance-schedules", { page: "acme", ...FIELDS }),
  },
  "PATCH /api/v1/maintenance-schedules/:id": {
    leaves: ["maintenance_schedule.update"],
    prepare: async (installation) =>
      byKey(installation, "PATCH", `/maintenance-schedules/${await schedule(installation)}`, {
        enabled: false,
      }),
  },
  "DELETE /api/v1/maintenance-schedules/:id": {
    leaves: ["maintenance_schedule.delete"],
    prepare: async (installation) =>
      byKey(installation, "DELETE", `/maintenance-schedules/${await schedule(installation)}`),
  },
  "POST /admin/maintenance/schedules/new": {
    leaves: ["maintenance_schedule.create"],
    prepare: (installation) => {
      const page = { page: installation.pageId, shown_page: installation.pageId };
      return byForm(installation, `${PATH}/new`, { form: "1", ...page, ...TYPED });
    },
  },
  "POST /admin/maintenance/schedules/:id": {
    leaves: ["maintenance_schedule.update"],
    async prepare(installation) {
      const path = `${PATH}/${await schedule(installation)}`;
      const version = await installation.version(path);
      return byForm(installation, path, { ...TYPED, name: "Restart", version });
    },
  },
  "POST /admin/maintenance/schedules/:id/delete": {
    leaves: ["maintenance_schedule.delete"],
    prepare: async (installation) =>
      byForm(installation, `${PATH}/${await schedule(installation)}/delete`),
  },
};
