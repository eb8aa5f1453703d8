import { expect, setDefaultTimeout, test } from "bun:test";
import { Statuspage } from "statuspage.js";
import { createInstallation, PROCESS_TEST_MS, type Server } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

/** A published client of Statuspage's, led here instead of to its service. */
function clientOf(server: Server): Statuspage {
  const client = new Statuspage("here");
  const { axios } = client as unknown as { axios: { defaults: { baseURL: string } } };
  axios.defaults.baseURL = `${server.url}/api/v2`;
  return client;
}

test("a published Statuspage client reads all eight documents", async () => {
  await using site = await createInstallation();
  await site.createPage("acme", ["API", "Website"]);
  const { value: key } = await site.createKey([
    "read:status",
    "write:incidents",
    "write:maintenance",
  ]);
  const server = await site.serve();
  const send = async (path: string, body: object) => {
    const answer = await server.fetch(`/api/v1/${path}`, {
      method: "POST",
      key,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ page: "acme", ...body }),
    });
    expect(answer.status).toBe(201);
    return (await answer.json()) as { id: string };
  };
  const shown = await server.fetch("/api/v1/status/acme", { key });
  const { components } = (await shown.json()) as { components: { id: string; name: string }[] };
  const [api] = components;
  const hour = (n: number) => new Date(Date.now() + n * 3_600_000).toISOString();
  const open = await send("incidents", {
    name: "Slow answers",
    body: "Looking.",
    components: { [api?.id ?? ""]: "major_outage" },
  });
  const over = await send("incidents", {
    name: "Over",
    body: "Done.",
    started_at: hour(-3),
    resolved_at: hour(-2),
  });
  const planned = await send("maintenance", {
    name: "Upgrade",
    body: "Soon.",
    components: [],
    scheduled_for: hour(1),
    scheduled_until: hour(2),
  });

  const client = clientOf(server);
  const idsOf = (list: readonly { id: string }[] | undefined) => (list ?? []).map(({ id }) => id);
  const summary = await client.summary();
  expect(summary.page.name).toBe("acme");
  expect(summary.page.updated_at).toBeInstanceOf(Date);
  expect(summary.status.indicator).toBe("critical");
  expect(idsOf(summary.incidents)).toEqual([open.id]);
  expect(idsOf(summary.scheduled_maintenances)).toEqual([planned.id]);
  expect((await client.status()).status).toEqual(summary.status);
  const listed = await client.components();
  expect(listed.components.map(({ name, status }) => [name, status])).toEqual([
    ["API", "major_outage"],
    ["Website", "operational"],
  ]);
  expect(idsOf((await client.allIncidents()).incidents)).toEqual([open.id, over.id]);
  const [first] = (await client.unresolvedIncidents()).incidents;
  expect(first?.id).toBe(open.id);
  expect(first?.incident_updates[0]).toMatchObject({ body: "Looking.", status: "investigating" });
  const { scheduled_maintenances: upcoming } = await client.upcomingScheduledMaintenances();
  expect(upcoming[0]?.scheduled_for).toBeInstanceOf(Date);
  expect(idsOf((await client.allScheduledMaintenances()).scheduled_maintenances)).toEqual([
    planned.id,
  ]);
  expect((await client.activeScheduledMaintenances()).scheduled_maintenances).toEqual([]);
  expect(await server.stop()).toBe(0);
});
