import { expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createAnalyticsSite } from "../../support/analytics";

test("an analytics request with invalid parameters is rejected and names the parameter", async () => {
  await using site = await createAnalyticsSite();
  const { API = "" } = site.components;
  for (const name of ["uptime", "latency", "incidents", "requests"]) {
    const good = await site.read(`${name}?from=2026-03-01T00:00:00Z&interval=day`);
    expect(good.status).toBe(200);
    for (const [query, parameter] of [
      ["from=2026-03-01", "from"],
      ["from=yesterday", "from"],
      ["from=2026-02-30T00:00:00Z", "from"],
      ["from=10000-01-01T00:00:00Z", "from"],
      ["to=%2B275000-01-01T00:00:00Z", "to"],
      ["to=1969-12-31T23:59:59Z", "to"],
      ["from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z", "from"],
      ["from=2026-03-10T12:00:00.000Z", "from"],
      ["from=1970-01-01T00:00:00Z&interval=hour", "interval"],
      ["interval=week", "interval"],
      ["interval=", "interval"],
      ["limit=10", "limit"],
    ] as const) {
      await site.expectRejected(`${name}?${query}`, parameter);
    }
  }
  for (const name of ["uptime", "latency", "incidents"]) {
    expect((await site.read(`${name}?component=${API}`)).status).toBe(200);
    await site.expectRejected(`${name}?page=nowhere`, "page");
    await site.expectRejected(`${name}?page=`, "page");
    await site.expectRejected(`${name}?component=cmp_nothing`, "component");
    await site.expectRejected(`${name}?monitor=mon_nothing`, "monitor");
    await site.expectRejected(`${name}?page=acme&component=${API}`, "component");
    await site.expectRejected(`${name}?page=acme&monitor=mon_nothing`, "monitor");
  }
});

test("reading figures writes nothing, and needs the scope in either form", async () => {
  await using site = await createAnalyticsSite();
  const { app } = site;
  const wrong = await app.keyWith("read:status", "manage:monitors");
  const [audit, events] = [app.audit(), app.events()];
  for (const name of ["uptime", "latency", "incidents", "requests"]) {
    for (const accept of ["application/json", "text/csv"]) {
      const headers = { accept };
      expect((await site.read(name, { headers })).status).toBe(200);
      expectProblem(await site.read(name, { headers, key: wrong }), "insufficient_scope");
      expectProblem(await site.read(name, { headers, key: undefined }), "missing_key");
    }
    expectProblem(await site.read(name, { method: "POST" }), "method_not_allowed");
  }
  expect(app.audit()).toEqual(audit);
  expect(app.events()).toEqual(events);
});
