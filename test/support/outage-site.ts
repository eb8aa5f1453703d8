import { mutate } from "../../src/db/statements";
import { pages } from "../../src/db/tables/pages";
import { SECOND_MS } from "../../src/base/time";
import { listCausesOfPage } from "./causes";
import { answers, fails, openEngineSite } from "./engine-site";

export interface ShownIncident {
  id: string;
  name: string;
  status: string;
  draft: boolean;
  impact: string;
  started_at: string;
  resolved_at: string | null;
  components: { name: string; status: string }[];
  updates: {
    id: string;
    body: string;
    status: string;
    components: { name: string; new_status: string }[];
  }[];
}

const setJoinMinutes = mutate((orm, $: { joinMinutes: number }) =>
  orm.update(pages).set({ joinMinutes: $.joinMinutes }),
);
/** A page with components A to F, and a monitor for each named letter: `a` of A, `ab` of A and B. */
export async function openOutageSite(
  monitors: Readonly<Record<string, object>>,
  page: { joinMinutes?: number } = {},
) {
  const engineSite = await openEngineSite();
  const { app, clock } = engineSite;
  const names = ["A", "B", "C", "D", "E", "F"];
  const made = await app.page({}, names);
  await app.ctx.db.write((tx) => setJoinMinutes(tx, { joinMinutes: page.joinMinutes ?? 10 }));
  const key = await app.keyWith("read:status", "write:incidents");
  const ids = new Map<string, string>();
  for (const [name, input] of Object.entries(monitors)) {
    const letters = [...name.replace(/\d/g, "").toUpperCase()];
    const row = await engineSite.monitor({
      name,
      component_ids: letters.map((letter) => made.components[letter] ?? ""),
      interval_seconds: 10,
      retry_interval_seconds: 5,
      failure_threshold: 1,
      open_incident: "automatic",
      on_down: "major_outage",
      ...input,
    });
    ids.set(name, row.id);
  }
  await clock.advance(10 * SECOND_MS);
  const id = (name: string) => ids.get(name) ?? "";
  return Object.assign(engineSite, {
    pageId: made.page.id,
    component: (name: string) => made.components[name] ?? "",
    id,
    async down(...hosts: string[]) {
      for (const host of hosts) engineSite.let(`${host}.test`, fails());
      await clock.advance(12 * SECOND_MS);
    },
    async up(...hosts: string[]) {
      for (const host of hosts) engineSite.let(`${host}.test`, answers());
      await clock.advance(12 * SECOND_MS);
    },
    async incidents(): Promise<ShownIncident[]> {
      return (await app.call("/api/v1/incidents", { key })).body.data;
    },
    async titles() {
      const { body } = await app.call("/api/v1/incidents", { key });
      return body.data.map(({ name, status }: ShownIncident) => `${name}: ${status}`);
    },
    post: (path: string, json: object, method = "POST") =>
      app.call(`/api/v1/incidents${path}`, { key, method, json }),
    write: app.ctx.db.write,
    /** Kills the process and starts another one. */
    async restart() {
      engineSite.kill();
      await engineSite.start();
    },
    /** Causes of incidents as `<component> <status> <from> → <to>`, in seconds. */
    incidentCauses() {
      const letters = new Map(Object.entries(made.components).map(([name, cmp]) => [cmp, name]));
      const seconds = (at: number | null) => (at === null ? "" : (at - engineSite.begin) / 1000);
      return listCausesOfPage(app.ctx.db, { pageId: made.page.id, since: 0 })
        .map(({ cause }) => cause)
        .filter(({ source }) => source === "incident")
        .map(
          ({ componentId, status, startedAt, endedAt }) =>
            `${letters.get(componentId)} ${status} ${seconds(startedAt)} → ${seconds(endedAt)}`,
        );
    },
  });
}

export type OutageSite = Awaited<ReturnType<typeof openOutageSite>>;

/** True for a cause of `incidentCauses` without an end. */
export const isOpenCause = (cause: string) => cause.endsWith("→ ");
