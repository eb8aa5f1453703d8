import { describe, expect, test } from "bun:test";
import { getKey, listAllKeys } from "../../../src/features/keys/records";
import { SCOPE_NAMES } from "../../../src/features/keys/scopes";
import { createTestApp } from "../../support/app";

describe("creating a key", () => {
  test("a key with a name and scope only has a rate limit of 1000 and never expires", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({ name: "Grafana", scopes: ["read:status"] });
    expect(key).toEqual({
      id: expect.stringMatching(/^key_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      name: "Grafana",
      start: value.slice(0, 13),
      scopes: ["read:status"],
      rate_limit: 1_000,
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      last_used_ip: null,
      created_at: "2026-03-10T12:00:00.000Z",
      created_by: { kind: "cli", id: null, label: "Command line" },
      version: 1,
      values: [
        {
          start: value.slice(0, 13),
          created_at: "2026-03-10T12:00:00.000Z",
          ends_at: null,
          last_used_at: null,
          last_used_ip: null,
        },
      ],
    });
    expect(getKey(app.ctx.db, key.id)).toEqual(key);
  });

  test("a new key works at once, with all requested properties", async () => {
    await using app = await createTestApp();
    const { value } = await app.createKey({
      name: "Everything",
      scopes: SCOPE_NAMES,
      rate_limit: 1_000_000,
      expires: "2027-01-31",
    });
    const answer = await app.call("/api/v1/key", { key: value });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      scopes: SCOPE_NAMES,
      rate_limit: 1_000_000,
      expires_at: "2027-02-01T00:00:00.000Z",
    });
  });

  test("creating a key writes an audit entry without the secret, and no event", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey({ name: "Grafana" });
    expect(app.audit()).toMatchObject([
      { action: "key.create", targetId: key.id, actorKind: "cli", summary: expect.any(String) },
    ]);
    expect(app.audit()[0]?.summary).toContain("Grafana");
    expect(app.events()).toEqual([]);
  });

  test("a key can have a name of 255 code points or of another key", async () => {
    await using app = await createTestApp();
    const names = ["x".repeat(255), "🚀".repeat(200), "𝕬".repeat(255), "same", "same"];
    for (const name of names) await app.createKey({ name });
    expect(
      listAllKeys(app.ctx.db)
        .map((key) => key.name)
        .sort(),
    ).toEqual([...names].sort());
  });

  test("every new key has a unique value and id", async () => {
    await using app = await createTestApp();
    const made = await Promise.all(Array.from({ length: 50 }, () => app.createKey()));
    expect(new Set(made.map(({ value }) => value)).size).toBe(50);
    expect(new Set(made.map(({ key }) => key.id)).size).toBe(50);
  });
});

test("keys are listed newest first, including revoked and expired ones", async () => {
  await using app = await createTestApp();
  const first = await app.createKey({ name: "first", expires: "2026-03-10" });
  const second = await app.createKey({ name: "second" });
  await app.clock.advance(86_400_000);
  const third = await app.createKey({ name: "third" });
  expect(listAllKeys(app.ctx.db).map((key) => key.id)).toEqual([
    third.key.id,
    second.key.id,
    first.key.id,
  ]);
});
