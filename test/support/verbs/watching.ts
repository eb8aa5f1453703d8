import { formOf } from "../monitor-dashboard";
import { byForm, type Sent, type VerbHouse, type Verbs } from "./verb";

const FOUND_OUT = "it tells how something is, and changes nothing that somebody set";

/** A form as a browser sends it that was opened at a path, but for these fields. */
async function filledIn(
  house: VerbHouse,
  path: string,
  fields: Record<string, string>,
): Promise<Sent> {
  const { app, session } = house;
  const { text } = await app.call(`/admin${path}`, { session });
  return byForm(house, path.replace(/\?.*/, ""), { ...formOf(text), ...fields });
}

async function monitorForm(house: VerbHouse, verb: string, more = {}): Promise<Sent> {
  return byForm(house, `/monitors/${await house.monitor(more)}/${verb}`, { form: "1" });
}

/** What changes something by the dashboard: monitors. */
export const WATCHING_VERBS: Verbs = {
  "POST /admin/monitors/new": {
    leaves: ["monitor.create"],
    prepare: (house) =>
      filledIn(house, "/monitors/new?type=http", {
        name: "Shop",
        config_url: "https://shop.example.com/",
      }),
  },
  "POST /admin/monitors/:id/edit": {
    leaves: ["monitor.update"],
    prepare: async (house) =>
      filledIn(house, `/monitors/${await house.monitor()}/edit`, { name: "Another" }),
  },
  "POST /admin/monitors/:id/pause": {
    leaves: ["monitor.pause"],
    prepare: (house) => monitorForm(house, "pause"),
  },
  "POST /admin/monitors/:id/resume": {
    leaves: ["monitor.resume"],
    prepare: (house) => monitorForm(house, "resume", { paused: true }),
  },
  "POST /admin/monitors/:id/rotate": {
    leaves: ["monitor.rotate_token"],
    prepare: (house) =>
      monitorForm(house, "rotate", { type: "push", interval_seconds: 60, config: {} }),
  },
  "POST /admin/monitors/:id/delete": {
    leaves: ["monitor.delete"],
    prepare: (house) => monitorForm(house, "delete"),
  },
  "POST /admin/monitors/:id/check": {
    leaves: [],
    because: FOUND_OUT,
    prepare: (house) => monitorForm(house, "check"),
  },
};
