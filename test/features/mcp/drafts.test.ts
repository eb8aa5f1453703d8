import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createIncidentSite, INCIDENTS } from "../../support/incident-site";
import { callTool } from "../../support/mcp";
import { openOutageSite } from "../../support/outage-site";

const DRAFT = { page: "acme", name: "Errors", body: "We look into it." };

async function openSite() {
  const site = await createIncidentSite();
  const call = (given: object, key = site.key) =>
    callTool(site.app.call, key, "draft_incident", given);
  /** Drafts an incident and returns it. */
  const draft = async (given: object = {}) => {
    const { isError, answer, text } = await call({ ...DRAFT, ...given });
    if (isError) throw new Error(text);
    return answer.incident;
  };
  return { ...site, call, draft, [Symbol.asyncDispose]: () => site[Symbol.asyncDispose]() };
}

describe("draft_incident", () => {
  test("it creates a draft that marks nothing, sends nothing and is on no page, until a person publishes it", async () => {
    await using site = await openSite();
    const { app, key } = site;
    const given = { ...DRAFT, status: "identified", components: { "acme:api": "major_outage" } };
    const { isError, answer } = await site.call(given);
    expect(isError).toBe(false);
    const { incident } = answer;
    expect(incident).toEqual(await site.read(incident.id));
    expect(incident).toMatchObject({ draft: true, source: "api", status: "identified" });
    expect(incident.updates[0].body).toBe(DRAFT.body);
    expect(await site.shown()).toEqual({ api: "operational", web: "operational" });
    expect(app.events()).toEqual([]);
    expect((await app.call("/status/acme")).text).not.toContain(DRAFT.name);
    expect((await app.call("/api/v1/status/acme", { key })).body.incidents).toEqual([]);

    const path = answer.publish_url.replace("https://status.test", "");
    const session = await app.signedIn("editor");
    const screen = await app.call(path, { session });
    expect(screen.text).toContain(DRAFT.name);
    expect((await app.call(`${path}/publish`, { session, form: {} })).status).toBe(303);
    expect(await site.shown()).toEqual({ api: "major_outage", web: "operational" });
    expect(app.events().map(({ type }) => type)).toContain("incident.created");
  });

  test("it adds an update to a draft", async () => {
    await using site = await openSite();
    const { id } = await site.draft();
    const more = { body: "The database is full.", components: { [site.api]: "partial_outage" } };
    const { isError, answer } = await site.call({ incident: id, ...more, status: "identified" });
    expect(isError).toBe(false);
    expect(answer.incident).toEqual(await site.read(id));
    expect(answer.incident).toMatchObject({ id, draft: true, status: "identified" });
    expect(answer.incident.updates.map(({ body }: { body: string }) => body)).toEqual([
      more.body,
      DRAFT.body,
    ]);
    expect(await site.shown()).toEqual({ api: "operational", web: "operational" });
    expect(site.app.events()).toEqual([]);
  });

  test("it adds an update to a draft that a monitor opened, which then is the key's", async () => {
    await using site = await openOutageSite({ a: { open_incident: "draft" } });
    await site.down("a");
    const [incident] = await site.incidents();
    const key = await site.app.keyWith("read:status", "write:incidents");
    const given = { incident: incident?.id, body: "The disk is full." };
    const { answer } = await callTool(site.app.call, key, "draft_incident", given);
    expect(answer.incident).toMatchObject({ source: "monitor", draft: true });
    expect(answer.incident.updates[0].untrusted_text).toBe(given.body);
    await site.up("a");
    expect((await site.incidents())[0]?.draft).toBe(true);
  });

  test("changes are audited like those of the API", async () => {
    await using site = await openSite();
    const { id } = await site.draft();
    await site.call({ incident: id, body: "More." });
    const entries = site.app.audit().filter(({ targetId }) => targetId === id);
    expect(entries.map(({ action, actorKind }) => [action, actorKind])).toEqual([
      ["incident.create", "key"],
      ["incident.add_update", "key"],
    ]);
    expect(entries[0]?.summary).toContain("Drafted");
  });

  test("a published incident is not changed, also if it was a draft", async () => {
    await using site = await openSite();
    const { id } = await site.draft();
    await site.patch(id, { draft: false });
    const before = await site.state();
    const { isError, answer } = await site.call({ incident: id, body: "More." });
    expect([isError, answer.code]).toEqual([true, "conflict"]);
    expect(answer.detail).toContain("published");
    expect(await site.state()).toEqual(before);
  });

  test("a key without read:status creates drafts, and reads and extends none, as in the API", async () => {
    await using site = await openSite();
    const writer = await site.app.keyWith("write:incidents");
    const { answer } = await site.call(DRAFT, writer);
    const { id } = answer.incident;
    expect(answer.incident.draft).toBe(true);
    const extended = await site.call({ incident: id, body: "More." }, writer);
    expect([extended.isError, extended.answer.code]).toEqual([true, "not_found"]);
    const byApi = { method: "POST", key: writer, json: { body: "More." } };
    expectProblem(await site.app.call(`${INCIDENTS}/${id}/updates`, byApi), "not_found");
  });

  test("a repeated call with an external_ref creates no second draft, and names the first", async () => {
    await using site = await openSite();
    const { id } = await site.draft({ external_ref: "ticket-7" });
    const { isError, answer } = await site.call({ ...DRAFT, external_ref: "ticket-7" });
    expect([isError, answer.code]).toEqual([true, "conflict"]);
    expect(answer.detail).toContain(id);
  });

  test("an argument that is null is the same as none", async () => {
    await using site = await openSite();
    const incident = await site.draft({ incident: null, status: null, external_ref: null });
    expect(incident).toMatchObject({ draft: true, status: "investigating", external_ref: null });
  });

  test.each([
    ["nothing", {}, ["#/body", "#/name", "#/page"]],
    ["draft", { ...DRAFT, draft: false }, ["#/draft"]],
    ["notify", { ...DRAFT, notify: true }, ["#/notify"]],
    ["an unknown page", { ...DRAFT, page: "none" }, ["#/page"]],
    ["a wrong status", { ...DRAFT, status: "over" }, ["#/status"]],
    [
      "an unknown component",
      { ...DRAFT, components: { none: "operational" } },
      ["#/components/none"],
    ],
    [
      "a name beside the incident",
      { incident: "inc_x", body: "More.", name: "Errors" },
      ["#/name"],
    ],
    ["draft beside the incident", { incident: "inc_x", body: "More.", draft: false }, ["#/draft"]],
    ["no body beside the incident", { incident: "inc_x" }, ["#/body"]],
    ["a list as the incident", { incident: ["inc_x"], body: "More." }, ["#/incident"]],
  ])(
    "%s is refused, every invalid field is named, and nothing is written",
    async (_, given, pointers) => {
      await using site = await openSite();
      const before = await site.state();
      const { isError, answer } = await site.call(given);
      expect([isError, answer.code]).toEqual([true, "validation_failed"]);
      expect(answer.errors.map(({ pointer }: { pointer: string }) => pointer).toSorted()).toEqual(
        pointers,
      );
      expect(await site.state()).toEqual(before);
    },
  );

  test("an unknown incident is not found", async () => {
    await using site = await openSite();
    const { isError, answer } = await site.call({ incident: "inc_none", body: "More." });
    expect([isError, answer.code]).toEqual([true, "not_found"]);
  });
});
