import { byKey, type ActionInstallation, type Verbs } from "./verb";

const FIELDS = {
  name: "Weekly restart",
  body: "A minute without it.",
  cron: "0 2 * * MON",
  duration_minutes: 30,
};

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
};
