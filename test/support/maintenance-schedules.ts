import { createMaintenanceSite, type MaintenanceSite } from "./maintenance-site";
import { createTestClock } from "./clock";
import type { Answer } from "./app";

export const SCHEDULES_PATH = "/api/v1/maintenance-schedules";

/** Body of a schedule of the component API: each day at 02:00 in Berlin, for an hour. */
export const DAILY = {
  page: "acme",
  name: "Nightly restart",
  body: "A minute without it.",
  cron: "0 2 * * *",
  duration_minutes: 60,
  time_zone: "Europe/Berlin",
};

/** An occurrence as the API lists it. */
export interface Occurrence {
  id: string;
  name: string;
  status: string;
  scheduled_for: string;
  scheduled_until: string;
  schedule_id: string | null;
  occurrence_at: string | null;
  version: number;
}

/** A maintenance site with functions for schedules. */
export interface ScheduleSite {
  site: MaintenanceSite;
  /** Sends a request to `/api/v1/maintenance-schedules`. */
  send(
    method: string,
    path?: string,
    json?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Creates a schedule of the component API and returns its id. Throws if it is rejected. */
  create(more?: object): Promise<string>;
  /** Lists all occurrences of schedules by their time. */
  occurrences(): Promise<Occurrence[]>;
  /** Lists when the scheduled occurrences start. */
  starts(): Promise<string[]>;
}

export async function createScheduleSite(start?: string): Promise<ScheduleSite & AsyncDisposable> {
  const site = await createMaintenanceSite({
    isClockRunning: true,
    ...(start === undefined ? {} : { clock: createTestClock(Date.parse(start)) }),
  });
  const send: ScheduleSite["send"] = (method, path = "", json, headers = {}) =>
    site.app.call(SCHEDULES_PATH + path, {
      method,
      key: site.key,
      headers,
      ...(json === undefined ? {} : { json }),
    });
  const occurrences = async () => {
    const found: Occurrence[] = [];
    let query = "?limit=100";
    for (;;) {
      const { body } = await site.call(query);
      found.push(...body.data.filter((each: Occurrence) => each.occurrence_at !== null));
      if (!body.next_cursor) break;
      query = `?limit=100&cursor=${encodeURIComponent(body.next_cursor)}`;
    }
    return found.sort((a, b) => ((a.occurrence_at ?? "") < (b.occurrence_at ?? "") ? -1 : 1));
  };
  return {
    site,
    send,
    async create(more = {}) {
      const answer = await send("POST", "", { ...DAILY, components: [site.ids["API"]], ...more });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body.id;
    },
    occurrences,
    starts: async () =>
      (await occurrences())
        .filter(({ status }) => status === "scheduled")
        .map(({ scheduled_for }) => scheduled_for),
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}
