import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createIncidentSite, INCIDENTS, type IncidentSite } from "../../support/incident-site";
import { MAIL_OFF, withoutMail } from "../../support/written-mail";

const put = (site: IncidentSite, id: string, json: unknown, headers: Record<string, string> = {}) =>
  site.app.call(`${INCIDENTS}/${id}/postmortem`, { method: "PUT", key: site.key, json, headers });

describe("PUT /api/v1/incidents/{id}/postmortem", () => {
  test("an unpublished post-mortem is visible only to keys that can read and write incidents", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open();
    const reader = await site.app.keyWith("read:status");
    const seen = async (key: string) =>
      (await site.app.call(`${INCIDENTS}/${id}`, { key })).body.postmortem;
    site.newEventTypes();
    const saved = await put(site, id, { body: "A disk was full." });
    expect(saved.status).toBe(200);
    expect(saved.body.postmortem).toEqual({
      body: "A disk was full.",
      published_at: null,
      mail: MAIL_OFF,
    });
    expect(await seen(site.key)).toEqual(withoutMail(saved.body.postmortem));
    expect(await seen(reader)).toBeNull();
    expect(site.newEventTypes()).toEqual([]);

    await site.update(id, {});
    expect(site.app.events().at(-1)?.data).toMatchObject({ postmortem: null });
    site.newEventTypes();

    const published = await put(site, id, { body: "A disk was full.", publish: true });
    expect(published.body.postmortem.published_at).toBe("2026-03-10T12:00:00.000Z");
    expect(await seen(reader)).toEqual(withoutMail(published.body.postmortem));
    expect(site.newEventTypes()).toEqual(["incident.postmortem_published"]);
    expect(site.app.events().at(-1)?.data).toMatchObject({
      postmortem: { body: "A disk was full." },
      notify: true,
    });
    expect(site.app.audit().at(-1)).toMatchObject({ action: "incident.write_postmortem" });
  });

  test("an edit of a published post-mortem keeps published_at and records incident.updated", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open();
    await put(site, id, { body: "One", publish: true });
    await site.app.clock.advance(60_000);
    site.newEventTypes();
    const { body } = await put(site, id, { body: "Two" });
    expect(body.postmortem).toEqual({
      body: "Two",
      published_at: "2026-03-10T12:00:00.000Z",
      mail: MAIL_OFF,
    });
    expect(site.newEventTypes()).toEqual(["incident.updated"]);
  });

  test("publish: false hides a published post-mortem", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open();
    await put(site, id, { body: "One", publish: true });
    const { body } = await put(site, id, { body: "One", publish: false });
    expect(body.postmortem.published_at).toBeNull();
    const reader = await site.app.keyWith("read:status");
    const seen = await site.app.call(`${INCIDENTS}/${id}`, { key: reader });
    expect(seen.body.postmortem).toBeNull();
  });

  test("writing the same post-mortem again changes nothing", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open();
    await put(site, id, { body: "One", publish: true });
    const before = await site.state();
    expect((await put(site, id, { body: "One", publish: true })).status).toBe(200);
    expect(await site.state()).toEqual(before);
  });

  test("a post-mortem has at most 50,000 characters, and invalid input is rejected", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open();
    expect((await put(site, id, { body: "🚒".repeat(50_000) })).status).toBe(200);
    const before = await site.state();
    const rejected = [
      [{ body: "x".repeat(50_001) }, "#/body"],
      [{ body: "" }, "#/body"],
      [{}, "#/body"],
      [{ body: "x", publish: "yes" }, "#/publish"],
      [{ body: "x", published_at: "2026-03-10T12:00:00Z" }, "#/published_at"],
    ] as const;
    for (const [json, pointer] of rejected) {
      const { errors } = expectProblem(await put(site, id, json), "validation_failed");
      expect(errors.map((error: { pointer: string }) => error.pointer)).toEqual([pointer]);
    }
    expect(await site.state()).toEqual(before);
  });
});
