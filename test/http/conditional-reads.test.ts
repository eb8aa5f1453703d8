import { describe, expect, test } from "bun:test";
import type { Answer } from "../support/app";
import { createComponentSite } from "../support/component-site";

const HASH_TAG = /^"[0-9a-f]{32}"$/;

function etagOf(answer: Answer): string {
  return answer.headers.get("etag") ?? "";
}

describe("an entity tag", () => {
  test("the entity tag of a resource is strong and starts with its version, which each change raises", async () => {
    await using site = await createComponentSite();
    const { app, key, path } = site;
    const before = await app.call(path, { key });
    const { version } = before.body;
    expect(etagOf(before)).toMatch(new RegExp(`^"${version}-[0-9a-f]{16}"$`));
    const changed = await site.patch({ json: { status: "major_outage" } });
    expect(etagOf(changed)).toMatch(new RegExp(`^"${version + 1}-[0-9a-f]{16}"$`));
    expect(etagOf(await app.call(path, { key }))).toBe(etagOf(changed));
  });

  test("the entity tag of documents, lists, pages and files is a hash of their bytes", async () => {
    await using site = await createComponentSite();
    const { app, key, path } = site;
    const targets = ["/api/v1/status/acme", "/api/v1/status", `${path}/history`, "/", "/docs"];
    for (const target of [...targets, "/openapi.json"]) {
      const answer = await app.call(target, { key });
      expect([target, etagOf(answer)]).toEqual([target, expect.stringMatching(HASH_TAG)]);
      expect(etagOf(await app.call(target, { key }))).toBe(etagOf(answer));
    }
  });

  test("an entity tag changes with the content", async () => {
    await using site = await createComponentSite();
    const { app, key, path } = site;
    const targets = ["/api/v1/status/acme", "/api/v1/status", `${path}/history`, "/"];
    const before = await Promise.all(targets.map((target) => app.call(target, { key })));
    await site.patch({ json: { status: "major_outage" } });
    for (const [index, target] of targets.entries()) {
      const headers = { "if-none-match": etagOf(before[index] as Answer) };
      const after = await app.call(target, { key, headers });
      expect([target, after.status]).toEqual([target, 200]);
      expect(etagOf(after)).not.toBe(headers["if-none-match"]);
    }
  });
});

describe("If-None-Match", () => {
  const READ = [
    "/api/v1/status/acme",
    "/api/v1/status",
    "/api/v1/components",
    "/",
    "/openapi.json",
  ];

  test("If-None-Match with the current tag is 304 without a body: plain, weak, in a list or *", async () => {
    await using site = await createComponentSite();
    const { app, key, path } = site;
    for (const target of [...READ, path]) {
      const first = await app.call(target, { key });
      const tag = etagOf(first);
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, `W/"a",W/${tag} , "b"`, "*"]) {
        const answer = await app.call(target, { key, headers: { "if-none-match": known } });
        expect([target, known, answer.status, answer.text]).toEqual([target, known, 304, ""]);
        expect(etagOf(answer)).toBe(tag);
        expect(answer.headers.get("cache-control")).toBe(first.headers.get("cache-control"));
        expect(answer.headers.get("vary")).toBe(first.headers.get("vary"));
        expect(answer.headers.get("content-type")).toBeNull();
        expect(answer.headers.get("ratelimit-policy")).toBe(first.headers.get("ratelimit-policy"));
      }
    }
  });

  test("If-None-Match with another tag is 200", async () => {
    await using site = await createComponentSite();
    const { app, key, path } = site;
    for (const target of [...READ, path]) {
      const tag = etagOf(await app.call(target, { key }));
      for (const known of ['"other"', "", tag.replaceAll('"', ""), `"x${tag.slice(1)}`, 'W/"*"']) {
        const answer = await app.call(target, { key, headers: { "if-none-match": known } });
        expect([target, known, answer.status]).toEqual([target, known, 200]);
        expect(answer.text).not.toBe("");
      }
    }
  });

  test("If-None-Match does not bypass a missing key or scope", async () => {
    await using site = await createComponentSite();
    const { app, path } = site;
    const headers = { "if-none-match": "*" };
    expect((await app.call(path, { headers })).status).toBe(401);
    const writer = await app.keyWith("write:components");
    expect((await app.call(path, { key: writer, headers })).status).toBe(403);
  });

  test("If-None-Match is ignored by a change", async () => {
    await using site = await createComponentSite();
    const answer = await site.patch({
      json: { status: "major_outage" },
      headers: { "if-none-match": "*" },
    });
    expect(answer.status).toBe(200);
    expect(answer.body.status).toBe("major_outage");
  });
});

describe("Cache-Control of answers", () => {
  test("answers that need a key are no-store, and public ones are cacheable for a short time", async () => {
    await using site = await createComponentSite();
    const { app, key, path } = site;
    const cacheOf = async (target: string) =>
      (await app.call(target, { key })).headers.get("cache-control");
    for (const target of [path, "/api/v1/status/acme", "/api/v1/status", "/api/v1/key"]) {
      expect([target, await cacheOf(target)]).toEqual([target, "no-store"]);
    }
    for (const target of ["/", "/status/acme", "/openapi.json", "/docs"]) {
      expect([target, await cacheOf(target)]).toEqual([
        target,
        "public, max-age=15, s-maxage=15, stale-while-revalidate=60, stale-if-error=86400",
      ]);
    }
    for (const target of ["/healthz", "/nothing", "/api/v1/status/none"]) {
      expect([target, await cacheOf(target)]).toEqual([target, "no-store"]);
    }
  });
});
