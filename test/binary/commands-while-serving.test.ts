import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createInstallation, holds, PROCESS_TEST_MS, type Server } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

const STATUS = "/api/v1/status/acme";

/** Lets a test ask more often than a stranger may. */
const PATIENT = { args: ["--public-rate-limit", "10000"] };

async function statusOf(server: Server, key: string, path = STATUS): Promise<number> {
  const answer = await server.fetch(path, { key });
  await answer.arrayBuffer();
  return answer.status;
}

describe("commands while the server runs", () => {
  test("a key created by `key create` works at its first request", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API", "Website"]);
    const server = await site.serve(PATIENT);
    expect((await server.fetch(STATUS)).status).toBe(401);

    const { value } = await site.createKey(["read:status"]);
    expect(await statusOf(server, value)).toBe(200);
    const document = (await (await server.fetch(STATUS, { key: value })).json()) as {
      components: { name: string }[];
    };
    expect(document.components.map(({ name }) => name)).toEqual(["API", "Website"]);
  });

  test("the status document is rejected without a key or with another scope", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const reader = await site.createKey(["read:status"]);
    const writer = await site.createKey(["write:components", "read:analytics"]);
    const server = await site.serve();

    expect(await statusOf(server, reader.value)).toBe(200);
    const bare = await server.fetch(STATUS);
    expect([bare.status, bare.headers.get("www-authenticate")]).toEqual([
      401,
      'Bearer realm="allclear"',
    ]);
    expect(await bare.json()).toMatchObject({ code: "missing_key" });
    const narrow = await server.fetch(STATUS, { key: writer.value });
    expect(narrow.status).toBe(403);
    expect(narrow.headers.get("www-authenticate")).toContain('scope="read:status"');
    expect(await narrow.json()).toMatchObject({ code: "insufficient_scope" });
  });

  test("a key revoked by `key revoke` is soon rejected and stays listed", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const { id, value } = await site.createKey(["read:status"]);
    const other = await site.createKey(["read:status"]);
    const server = await site.serve(PATIENT);
    expect(await statusOf(server, value)).toBe(200);

    await site.output("key", "revoke", id);
    expect(await holds(async () => (await statusOf(server, value)) === 401)).toBe(true);
    const rejection = await server.fetch(STATUS, { key: value });
    expect(await rejection.json()).toMatchObject({ code: "revoked_key" });
    expect(await statusOf(server, other.value)).toBe(200);
    expect(await site.output("key", "list")).toMatch(new RegExp(`^${id} .* revoked `, "m"));
  });

  test("a rate limit set by `key update` is soon in force", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const { id, value } = await site.createKey(["read:status"]);
    const server = await site.serve();
    const limit = async () =>
      (await server.fetch(STATUS, { key: value })).headers.get("x-ratelimit-limit");
    expect(await limit()).toBe("1000");

    await site.output("key", "update", id, "--rate-limit", "7");
    expect(await holds(async () => (await limit()) === "7")).toBe(true);
    let last = await server.fetch(STATUS, { key: value });
    for (let more = 0; more < 7; more++) last = await server.fetch(STATUS, { key: value });
    expect(last.status).toBe(429);

    await site.output("key", "update", id, "--rate-limit", "5000");
    expect(await holds(async () => (await limit()) === "5000")).toBe(true);
    expect(await statusOf(server, value)).toBe(200);
  });

  test("a value of `key rotate` works at its first request, and the old one until it is ended", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const { id, value: first } = await site.createKey(["read:status"]);
    const server = await site.serve(PATIENT);

    const second = await site.output("key", "rotate", id);
    expect(await statusOf(server, second)).toBe(200);
    expect(await statusOf(server, first)).toBe(200);

    const third = await site.output("key", "rotate", id, "--overlap", "now");
    expect(await statusOf(server, third)).toBe(200);
    expect(await statusOf(server, first)).toBe(401);
    expect(await statusOf(server, second)).toBe(401);
  });

  test("a page created or changed by `apply` is soon served", async () => {
    await using site = await createInstallation();
    const { value } = await site.createKey(["read:status"]);
    const server = await site.serve(PATIENT);
    expect(await statusOf(server, value)).toBe(404);
    const components = async () => {
      const answer = await server.fetch(STATUS, { key: value });
      const body = (await answer.json()) as { components?: { name: string }[] };
      return body.components?.map(({ name }) => name).join();
    };
    await site.createPage("acme", ["API"]);
    expect(await holds(async () => (await components()) === "API")).toBe(true);
    const home = await server.fetch("/");
    expect(await home.text()).not.toContain("This is a sample.");

    await site.createPage("acme", ["API", "Website"]);
    expect(await holds(async () => (await components()) === "API,Website")).toBe(true);
  });
});
