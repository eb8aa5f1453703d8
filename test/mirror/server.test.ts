import { expect, test } from "bun:test";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { CLI_ACTOR } from "../../src/base/actor";
import { startSession } from "../../src/features/auth/sessions";
import { createUser } from "../../src/features/users/users";
import { sessionCookie } from "../../src/http/cookies";
import { openForCommand } from "../../src/installation";
import { startServer } from "../../src/server";
import { testConfig } from "../support/app";
import { settle } from "../support/clock";
import { readHtml } from "../support/html";
import { temporaryFolder } from "../support/temporary-folder";
import { createKey, createPage } from "../support/examined";

/** Creates a public page, a session of an owner and a key for metrics. Returns the cookie and the id of the page. */
async function prepare(
  env: Record<string, string>,
): Promise<{ cookie: string; page: string; key: string }> {
  const { ctx, close } = openForCommand(testConfig(env), "apply", { canCreate: true });
  try {
    return await ctx.db.write((tx) => {
      const page = createPage(ctx, tx, { slug: "shop", name: "Shop" }, CLI_ACTOR).id;
      const owner = createUser(ctx, tx, { email: "a@b.example", name: "A" }, CLI_ACTOR).id;
      const session = startSession(ctx, tx, owner, { ip: "127.0.0.1", userAgent: "test" });
      const scopes = ["read:analytics" as const];
      const key = createKey(ctx, tx, { name: "metrics", scopes }, CLI_ACTOR).value;
      return { key, cookie: sessionCookie(ctx, session).split(";", 1)[0] ?? "", page };
    });
  } finally {
    close();
  }
}

/** Returns the folder of the mirror and the environment of a server. */
function placesIn(folder: string) {
  const mirror = join(folder, "mirror");
  const env = {
    ALLCLEAR_BASE_URL: "http://status.test",
    ALLCLEAR_DATA_DIR: join(folder, "data"),
    ALLCLEAR_LISTEN: "127.0.0.1:0",
    ALLCLEAR_LOG_LEVEL: "silent",
    ALLCLEAR_MIRROR: mirror,
  };
  return { mirror, env };
}

/** Waits for the first copy. Files are flushed to the disk, which takes as long as it takes. */
async function isComplete(mirror: string): Promise<void> {
  while (!existsSync(join(mirror, "status/shop/index.html"))) await settle();
  const index = join(mirror, "mirror.json");
  while (!readFileSync(index, "utf8").includes("status/shop/index.html")) await settle();
}

/** Returns the form that deletes a page. */
async function deletionOf(page: string, url: string, cookie: string) {
  const path = `${url}/admin/pages/${page}/delete`;
  const headers = { cookie, origin: url };
  const question = readHtml(await (await fetch(path, { headers })).text());
  const fields = question.controls
    .filter(({ type }) => type === "hidden")
    .map(({ name, value }): [string, string] => [name, value]);
  return { path, headers, body: new URLSearchParams([...fields, ["slug", "shop"]]) };
}

test("a server with --mirror writes the folder, and the dashboard deletes a page there first", async () => {
  using folder = temporaryFolder();
  const { mirror, env } = placesIn(folder.path);
  const { cookie, page, key } = await prepare(env);
  const server = await startServer(testConfig(env));
  try {
    await isComplete(mirror);
    const readCard = async () => {
      const screen = await fetch(`${server.url}/admin/settings/fleet`, { headers: { cookie } });
      return readHtml(await screen.text())
        .texts("#fleet-mirror")
        .join();
    };
    // The list of files is in its place before the server knows that it was written.
    while (!(await readCard()).includes("Up to date")) await settle();
    expect(await readCard()).toContain(mirror);
    const authorization = `Bearer ${key}`;
    const metrics = await fetch(`${server.url}/metrics`, { headers: { authorization } });
    expect(await metrics.text()).toMatch(/^allclear_fleet_mirror_age_seconds \d/m);
    const { path, headers, body } = await deletionOf(page, server.url, cookie);
    const answer = await fetch(path, { method: "POST", headers, body, redirect: "manual" });
    expect(answer.status).toBe(303);
    expect(existsSync(join(mirror, "status"))).toBe(false);
    expect(existsSync(join(mirror, "index.html"))).toBe(false);
  } finally {
    await server.stop();
  }
}, 600_000);

test("a page that is deleted while the server stops leaves the mirror before the answer", async () => {
  using folder = temporaryFolder();
  const { mirror, env } = placesIn(folder.path);
  const { cookie, page } = await prepare(env);
  const server = await startServer(testConfig(env));
  let stopping: Promise<void> | undefined;
  try {
    await isComplete(mirror);
    const { path, headers, body } = await deletionOf(page, server.url, cookie);
    const form = body.toString();
    const { hostname, port, pathname } = new URL(path);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    const answered = once(socket, "data");
    const head = [
      `POST ${pathname} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Origin: ${headers.origin}`,
      `Cookie: ${cookie}`,
      "Content-Type: application/x-www-form-urlencoded",
      `Content-Length: ${form.length}`,
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n${form.slice(0, 5)}`);
    // The server is in this process, and reads the beginning in one of the next turns.
    for (let turn = 0; turn < 50; turn += 1) await settle();
    stopping = server.stop();
    socket.write(form.slice(5));
    expect(String(await answered)).toStartWith("HTTP/1.1 303 ");
    socket.destroy();
    expect(existsSync(join(mirror, "status"))).toBe(false);
  } finally {
    await (stopping ?? server.stop());
  }
}, 600_000);
