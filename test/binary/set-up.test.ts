import { expect, setDefaultTimeout, test } from "bun:test";
import { createInstallation, PROCESS_TEST_MS, type Server } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

const LINK = /http:\/\/\S+(\/admin\/setup\/(\S+))/;

/** The set-up link that a server printed, once it has printed all that it prints at its start. */
async function setUpLink(server: Server): Promise<{ path: string; token: string } | undefined> {
  while (!server.stderr().includes("Create an API key")) await server.fetch("/healthz");
  const [, path, token] = LINK.exec(server.stderr()) ?? [];
  return path && token ? { path, token } : undefined;
}

function setUp(server: Server, path: string): Promise<Response> {
  const fields = {
    name: "Ada",
    email: "ada@example.com",
    password: "correct horse battery",
    public_address: "http://status.test",
  };
  return server.fetch(path, {
    method: "POST",
    headers: { origin: server.url },
    body: new URLSearchParams(fields),
  });
}

test("the first start prints a link that creates the owner once, and later starts print none", async () => {
  await using site = await createInstallation();
  const server = await site.serve({ env: { ALLCLEAR_LOG_LEVEL: "debug" } });
  const link = await setUpLink(server);
  const path = link?.path ?? "";
  expect((await server.fetch(path)).status).toBe(200);
  const answer = await setUp(server, path);
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/admin"]);
  const cookie = (answer.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
  expect((await server.fetch("/admin", { headers: { cookie } })).status).toBe(200);
  expect((await setUp(server, path)).status).toBe(404);
  // The link is printed but never logged.
  const logged = server
    .stderr()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  expect(logged.join("\n")).toContain("/admin/setup/[redacted]");
  expect(logged.join("\n")).not.toContain(link?.token ?? "");
  expect(await server.stop()).toBe(0);

  const again = await site.serve();
  expect(await setUpLink(again)).toBeUndefined();
  expect((await again.fetch("/admin", { headers: { cookie } })).status).toBe(200);
  const [user] = JSON.parse(await site.output("user", "list", "--json")) as { role: string }[];
  expect(user?.role).toBe("owner");
});

test("a restart replaces the set-up link, and creating a user by command ends it at once", async () => {
  await using site = await createInstallation();
  const first = await site.serve();
  const old = await setUpLink(first);
  await first.stop();
  const second = await site.serve();
  const link = await setUpLink(second);
  expect((await second.fetch(old?.path ?? "")).status).toBe(404);
  expect((await second.fetch(link?.path ?? "")).status).toBe(200);
  const joining = await site.output("user", "create", "--email", "ada@example.com");
  expect((await second.fetch(link?.path ?? "")).status).toBe(404);
  expect((await setUp(second, link?.path ?? "")).status).toBe(404);
  const path = joining.replace(/^http:\/\/[^/]+/, "");
  expect(path).toMatch(/^\/admin\/join\/\w{43}$/);
  expect((await second.fetch(path)).status).toBe(200);
});
