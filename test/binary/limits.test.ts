import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

const STATUS = "/api/v1/status/acme";

describe("a key's limit over real connections", () => {
  test("a key with 5 requests a minute gets five answers, then 429 with Retry-After", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const { value: key } = await site.createKey(["read:status"], "--rate-limit", "5");
    const server = await site.serve();
    const answers: Response[] = [];
    for (let count = 0; count < 6; count++) answers.push(await server.fetch(STATUS, { key }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    const rejected = answers[5];
    expect(rejected?.headers.get("ratelimit-policy")).toBe('"key";q=5;w=60');
    const wait = Number(rejected?.headers.get("retry-after"));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(60);
  });

  test("32 connections of a key get exactly its limit in a minute", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const limit = 60;
    const { value: key } = await site.createKey(["read:status"], "--rate-limit", String(limit));
    const server = await site.serve();
    const startedAt = performance.now();
    let admitted = 0;
    let retryAfter = 0;
    const client = async () => {
      while (retryAfter === 0) {
        const answer = await server.fetch(STATUS, { key });
        await answer.arrayBuffer();
        if (answer.status === 200) admitted += 1;
        else retryAfter = Number(answer.headers.get("retry-after"));
      }
    };
    await Promise.all(Array.from({ length: 32 }, client));
    // A machine that is too slow for a minute begins others.
    const minutes = Math.ceil((performance.now() - startedAt) / 60_000);
    expect(admitted).toBeGreaterThanOrEqual(limit);
    expect(admitted).toBeLessThanOrEqual(minutes * limit);
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(retryAfter).toBeLessThanOrEqual(60);
  });

  test("requests without the key do not use its limit, and their own limit does not block the key", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const { value: key } = await site.createKey(["read:status"]);
    const server = await site.serve({ args: ["--public-rate-limit", "3"] });
    const strangers: number[] = [];
    for (let count = 0; count < 4; count++) {
      strangers.push((await server.fetch(STATUS, { key: `${key.slice(0, -1)}!` })).status);
    }
    expect(strangers).toEqual([401, 401, 401, 429]);
    const own = await server.fetch(STATUS, { key });
    expect([own.status, own.headers.get("x-ratelimit-remaining")]).toEqual([200, "999"]);
    expect((await server.fetch("/readyz")).status).toBe(200);
  });
});
