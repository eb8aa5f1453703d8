import { describe, expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../../../support/app";
import { KEYS, keysOf, statusWith } from "../../../support/dashboard";
import { readHtml, typedIn } from "../../../support/html";

const SELECTED = `${KEYS}/selected`;
const DAY = 24 * 60 * 60 * 1_000;

async function withKeys(...names: string[]) {
  const app = await createTestApp();
  const made = [];
  for (const name of names) made.push(await app.createKey({ name }));
  const session = await app.signedIn("admin");
  return {
    app,
    session,
    ids: made.map(({ key }) => key.id),
    values: made.map(({ value }) => value),
    send: (path: string, form: Record<string, string | readonly string[]>) =>
      app.call(path, { session, form }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

const messageOf = async (app: TestApp, session: string) =>
  readHtml((await app.call(KEYS, { session })).text).texts(".flash")[0] ?? "";

const revocations = (app: TestApp) =>
  app.audit().flatMap(({ action, targetId }) => (action === "key.revoke" ? [targetId] : []));

describe("selected keys", () => {
  test("selected keys are revoked after a question that names them, each with its own entry in the audit log", async () => {
    await using site = await withKeys("Old Jenkins", "Grafana", "Terraform");
    const { app, session, ids, values } = site;
    expect(await statusWith(app, values[1] ?? "")).toBe(200);
    await app.clock.advance(6_000);
    const chosen = ids.slice(0, 2);
    const asked = await site.send(`${SELECTED}?q=a&show=live&sort=-used`, { id: chosen });
    expect(asked.status).toBe(200);
    const question = readHtml(asked.text);
    expect(question.texts("h1")).toEqual(["Revoke 2 keys?"]);
    expect(question.texts(".chosen > li > a")).toEqual(["Old Jenkins", "Grafana"]);
    expect(question.texts(".chosen .cell-note")[0]).toContain("The key was never used.");
    expect(question.texts(".chosen .cell-note")[1]).toContain("from 203.0.113.7");
    expect(question.texts(".dialog-body strong")).toEqual([
      "1 key made requests in the last 24 hours.",
    ]);
    expect(typedIn(asked.text, "id")).toEqual(chosen);
    expect(revocations(app)).toEqual([]);
    const [action = ""] = question.attributes(".dialog-body form", "action");

    const done = await site.send(action, { id: chosen });
    expect([done.status, done.headers.get("location")]).toEqual([
      303,
      `${KEYS}?q=a&show=live&sort=-used`,
    ]);
    expect(await messageOf(app, session)).toBe(
      "2 keys were revoked. Requests with these keys are now rejected.",
    );
    expect(revocations(app)).toEqual(chosen);
    expect(await statusWith(app, values[0] ?? "")).toBe(401);
    expect(await statusWith(app, values[1] ?? "")).toBe(401);
    expect(await statusWith(app, values[2] ?? "")).toBe(200);
  });

  test("a repeated form revokes nothing again and says so", async () => {
    await using site = await withKeys("One");
    const { app, session, ids } = site;
    await site.send(`${SELECTED}/revoke`, { id: ids });
    await messageOf(app, session);
    const before = keysOf(app);
    await site.send(`${SELECTED}/revoke`, { id: [...ids, "key_unknown"] });
    expect(await messageOf(app, session)).toBe("2 keys were no longer in use already.");
    expect(keysOf(app)).toEqual(before);
    expect(revocations(app)).toEqual(ids);
  });

  test("a selection without a key, of too many, or of ended ones changes nothing", async () => {
    await using site = await withKeys("One");
    const { app, session, ids } = site;
    const tooMany = Array.from({ length: 1_001 }, (_, index) => `key_${index}`);
    for (const path of [SELECTED, `${SELECTED}/revoke`]) {
      expect((await site.send(path, {})).status).toBe(303);
      expect(await messageOf(app, session)).toBe("Select at least one key.");
      await site.send(path, { id: tooMany });
      expect(await messageOf(app, session)).toStartWith("More than 1,000 keys were selected.");
    }
    expect(revocations(app)).toEqual([]);
    await site.send(`${SELECTED}/revoke`, { id: ids });
    await messageOf(app, session);
    expect((await site.send(SELECTED, { id: ids })).status).toBe(303);
    expect(await messageOf(app, session)).toBe("The selected keys do not work any more.");
  });

  test("keys that have ended cannot be selected in the list", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey({ name: "ends", expires: "2026-03-12" });
    app.clock.setWallClock(app.clock.now() + 9 * DAY);
    const live = await app.createKey({ name: "works" });
    const session = await app.signedIn("admin");
    const { text } = await app.call(KEYS, { session });
    expect(readHtml(text).texts("a.row-link")).toEqual(["works", "ends"]);
    const boxes = readHtml(text).controls.filter(({ name }) => name === "id");
    expect(boxes.map(({ value }) => value)).toEqual([live.key.id]);
    expect(key.id).not.toBe(live.key.id);
  });

  test("all keys that match the filters can be selected if the list has several parts", async () => {
    await using app = await createTestApp();
    for (let key = 1; key <= 55; key++) await app.createKey({ name: `bot ${key}` });
    await app.createKey({ name: "other" });
    const session = await app.signedIn("admin");
    const { text } = await app.call(`${KEYS}?q=bot`, { session });
    expect(readHtml(text).attributes("[data-pick-all]", "data-pick-all")).toEqual(["55"]);
    const asked = await app.call(`${SELECTED}?q=bot`, { session, form: { all: "1" } });
    expect(readHtml(asked.text).texts("h1")).toEqual(["Revoke 55 keys?"]);
    const id = typedIn(asked.text, "id");
    await app.call(`${SELECTED}/revoke?q=bot`, { session, form: { id } });
    const left = keysOf(app).filter(({ revoked_at: at }) => at === null);
    expect(left.map(({ name }) => name)).toEqual(["other"]);
    expect(revocations(app)).toHaveLength(55);
  });

  test.each(["editor", "viewer"] as const)("a %s revokes no selected keys", async (role) => {
    await using site = await withKeys("One");
    const session = await site.app.signedIn(role);
    for (const path of [SELECTED, `${SELECTED}/revoke`]) {
      const form = { id: site.ids };
      expect((await site.app.call(path, { session, form })).status).toBe(403);
    }
    expect(revocations(site.app)).toEqual([]);
  });

  test("an address of a form for selected keys leads to the list when it is opened", async () => {
    await using site = await withKeys("One");
    for (const path of [SELECTED, `${SELECTED}/revoke`]) {
      const answer = await site.app.call(path, { session: site.session });
      expect([answer.status, answer.headers.get("location")]).toEqual([303, KEYS]);
    }
  });
});
