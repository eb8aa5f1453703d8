import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem, type TestApp } from "../../support/app";
import { readHtml } from "../../support/html";

const statusRows = (app: TestApp) =>
  app.audit().filter(({ action }) => action === "component.set_status");

async function createSite() {
  const app = await createTestApp();
  const { components } = await app.page({}, ["API", "Website"]);
  const { key, value } = await app.createKey({ name: "deploys", scopes: ["write:components"] });
  const [api = "", website = ""] = [components["API"], components["Website"]];
  const patch = (path: string, json: object) =>
    app.call(`/api/v1/components${path}`, { method: "PATCH", key: value, json });
  return { app, api, website, keyId: key.id, patch };
}

describe("setting a component's status", () => {
  test("a status set in the dashboard is listed in Activity and under its filter for components", async () => {
    const { app, api } = await createSite();
    await using _ = app;
    const session = await app.signedIn("editor");
    const form = { status: "major_outage", reason: "The database does not answer." };
    const path = `/admin/components/${api}/status`;
    expect((await app.call(path, { session, form })).status).toBe(303);
    expect(statusRows(app)).toMatchObject([
      {
        action: "component.set_status",
        targetId: api,
        actorKind: "user",
        summary: "Set the status of “API” from operational to major outage",
      },
    ]);
    const owner = await app.signedIn("owner");
    for (const [query, count] of [
      ["?action=component.set_status", 1],
      ["?action=component&actor=user", 1],
      ["?action=incident", 0],
    ] as const) {
      const { text } = await app.call(`/admin/settings/activity${query}`, { session: owner });
      const listed = readHtml(text).texts("tbody tr, li");
      const found = listed.filter((row) => row.includes("Set the status of “API”"));
      expect([query, found.length]).toEqual([query, count]);
    }
  });

  test("a status set by API writes one audit entry per changed component, with the key as actor", async () => {
    const { app, api, website, keyId, patch } = await createSite();
    await using _ = app;
    expect((await patch(`/${api}`, { status: "partial_outage" })).status).toBe(200);
    const statuses = { [api]: "partial_outage", [website]: "degraded_performance" };
    expect((await patch("", { components: statuses })).status).toBe(200);
    expect(statusRows(app)).toMatchObject([
      { targetId: api, actorKind: "key", actorId: keyId },
      {
        targetId: website,
        actorKind: "key",
        actorId: keyId,
        summary: "Set the status of “Website” from operational to degraded performance",
      },
    ]);
  });

  test("an unchanged or rejected status writes no audit entry", async () => {
    const { app, api, patch } = await createSite();
    await using _ = app;
    expect((await patch(`/${api}`, { status: "operational" })).status).toBe(200);
    const unknown = "cmp_00000000000000000000000000";
    const statuses = { [api]: "major_outage", [unknown]: "major_outage" };
    expectProblem(await patch("", { components: statuses }), "validation_failed");
    expectProblem(await patch(`/${api}`, { status: "on fire" }), "validation_failed");
    const session = await app.signedIn("viewer");
    const form = { status: "major_outage", reason: "" };
    const path = `/admin/components/${api}/status`;
    expect((await app.call(path, { session, form })).status).toBe(403);
    expect(statusRows(app)).toEqual([]);
  });
});
