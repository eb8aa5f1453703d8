import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { createTestApp, expectProblem } from "../support/app";
import { visit } from "../support/domains";
import { readHtml } from "../support/html";
import { createPublicSite } from "../support/public-site";
import { updateComponent, updatePage } from "../support/examined";

const VERSION = "/status/acme/version";
const MINUTE = 60_000;

describe("the version of a status page", () => {
  test("the version is a few bytes that the page itself names", async () => {
    await using site = await createPublicSite();
    const answer = await site.app.call(VERSION);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/plain;charset=utf-8");
    expect(answer.text).toMatch(/^[0-9a-f]{16}$/);
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect(page.attributes("script", "data-version")).toEqual([answer.text]);
    expect(page.attributes("script", "data-live")).toEqual([VERSION]);
  });

  test("an unchanged version answers 304 to its ETag, also while uptime is computed again", async () => {
    await using site = await createPublicSite();
    const { headers } = await site.app.call(VERSION);
    const ifNoneMatch = { "if-none-match": headers.get("etag") ?? "" };
    await site.app.clock.advance(4 * MINUTE);
    const same = await site.app.call(VERSION, { headers: ifNoneMatch });
    expect(same.status).toBe(304);
    expect(same.text).toBe("");
    await site.app.clock.advance(2 * MINUTE);
    expect((await site.app.call(VERSION, { headers: ifNoneMatch })).status).toBe(200);
  });

  test("the version changes with an incident, with its updates, and at midnight in UTC", async () => {
    await using site = await createPublicSite();
    const { app } = site;
    const versions = new Set<string>();
    const read = async () => versions.add((await app.call(VERSION)).text);
    await read();
    const incident = await site.open({ name: "Search is slow" });
    await read();
    const key = await app.keyWith("write:incidents");
    const json = { status: "identified", body: "We found it." };
    const path = `/api/v1/incidents/${incident.id}/updates`;
    expect((await app.call(path, { method: "POST", key, json })).status).toBe(201);
    await read();
    expect(versions.size).toBe(3);
    app.clock.setWallClock(Date.parse("2026-03-10T23:59:59Z"));
    await read();
    app.clock.setWallClock(Date.parse("2026-03-11T00:00:00Z"));
    await read();
    expect(versions.size).toBe(5);
  });

  test("the version changes with past incidents that the page shows, and not with drafts", async () => {
    await using site = await createPublicSite();
    const { app, key } = site;
    const day = { started_at: "2026-03-09T10:00:00Z", resolved_at: "2026-03-09T11:00:00Z" };
    const past = await site.open({ name: "Past", ...day });
    const read = async () => {
      await app.clock.advance(1_000);
      return (await app.call(VERSION)).text;
    };
    const versions = [await read()];
    const path = `/api/v1/incidents/${past.id}`;
    await app.call(path, { method: "PATCH", key, json: { name: "Renamed" } });
    versions.push(await read());
    const json = { body: "Why.", publish: true };
    await app.call(`${path}/postmortem`, { method: "PUT", key, json });
    versions.push(await read());
    expect(new Set(versions).size).toBe(3);
    await site.open({ name: "Draft", draft: true });
    expect(await read()).toBe(versions.at(-1) ?? "");
  });

  test("the version changes with each field of a component that the page shows, and with its order", async () => {
    await using site = await createPublicSite();
    const { app, ids } = site;
    const seen = new Set([(await app.call(VERSION)).text]);
    const changes = [
      [{ name: "Renamed" }],
      [{ description: "As described." }],
      [{ showcase: false }],
      [{ show_latency: true }],
      [{ only_show_if_degraded: true }],
      [{}, { position: 7 }],
      [{}, { groupId: null }],
    ] as const;
    for (const [input, place = {}] of changes) {
      await app.ctx.db.write((tx) =>
        updateComponent(app.ctx, tx, ids["API"] ?? "", input, CLI_ACTOR, place),
      );
      seen.add((await app.call(VERSION)).text);
    }
    expect(seen.size).toBe(1 + changes.length);
  });

  test("the version changes at the planned time of a maintenance, without a request that writes", async () => {
    await using site = await createPublicSite();
    await site.plan("2026-03-10T12:01:00Z", "2026-03-10T12:03:00Z");
    const before = await site.app.call(VERSION);
    await site.app.clock.advance(2 * MINUTE);
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect([(await site.app.call(VERSION)).text]).toEqual(
      page.attributes("script", "data-version"),
    );
    expect((await site.app.call(VERSION)).text).not.toBe(before.text);
  });

  test("the version is charged to the public bucket, also for 304", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "2" } });
    await app.page({ slug: "acme" });
    const first = await app.call(VERSION);
    expect(first.headers.get("ratelimit")).toStartWith('"public";r=1');
    const headers = { "if-none-match": first.headers.get("etag") ?? "" };
    expect((await app.call(VERSION, { headers })).status).toBe(304);
    const refused = await app.call(VERSION, { headers });
    expectProblem(refused, "rate_limited");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("the version of a private page needs a session, does not extend it, and is not stored", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme", visibility: "private" });
    expectProblem(await app.call(VERSION), "not_found");
    const session = await app.signedIn("viewer");
    const answer = await app.call(VERSION, { session });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    for (let hour = 0; hour < 24; hour++) {
      expect((await app.call(VERSION, { session })).status).toBe(200);
      await app.clock.advance(60 * MINUTE);
    }
    expectProblem(await app.call(VERSION, { session }), "not_found");
  });

  test("a custom domain serves the version of its own page only", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "main" });
    await app.page({ slug: "acme", custom_domains: ["status.acme.example"] });
    const own = await visit(app, "status.acme.example", VERSION);
    expect(own.text).toBe((await app.call(VERSION)).text);
    expect((await visit(app, "status.acme.example", "/status/main/version")).status).toBe(404);
  });

  test("an earlier slug redirects to the current one, and an unknown page is not_found", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ slug: "old" });
    await app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, { slug: "acme" }, CLI_ACTOR));
    const answer = await app.call("/status/old/version");
    expect(answer.status).toBe(308);
    expect(answer.headers.get("location")).toBe(VERSION);
    expectProblem(await app.call("/status/nothing/version"), "not_found");
  });

  test("a status that an API key sets changes the version", async () => {
    await using site = await createPublicSite();
    const { app, ids, key } = site;
    const before = await app.call(VERSION);
    const json = { status: "degraded_performance" };
    const path = `/api/v1/components/${ids["API"]}`;
    expect((await app.call(path, { method: "PATCH", key, json })).status).toBe(200);
    expect((await app.call(VERSION)).text).not.toBe(before.text);
  });

  test("the policy of a page allows requests and forms to its own origin only", async () => {
    await using site = await createPublicSite();
    const policy = (await site.app.call("/status/acme")).headers.get("content-security-policy");
    expect(policy).toContain("connect-src 'self'; ");
    expect(policy).toContain("form-action 'self'; ");
  });
});
