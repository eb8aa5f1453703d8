import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { deletePage } from "../../src/features/pages/deletion";
import { createSubscribingSite } from "../support/subscribing";

const PUBLIC = "status.test";
const DOMAIN = "status.acme.example";
const BODIES = {
  urlencoded: ["--data", "List-Unsubscribe=One-Click"],
  multipart: ["--form", "List-Unsubscribe=One-Click"],
};

test("curl unsubscribes by one click on every address, after a rename, and for a private and a deleted page", async () => {
  await using site = await createSubscribingSite({ custom_domains: [DOMAIN] });
  const { app, page } = site;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => app.app.handle(request, () => "203.0.113.7"),
  });
  /** Sends the body by curl and returns the answer with its head. */
  const clickAt = async (host: string, body: readonly string[], path: string) => {
    const url = `http://${host}:${server.port}${path}`;
    const resolve = `${host}:${server.port}:127.0.0.1`;
    const flags = ["-q", "-sS", "-D", "-", "-m", "20", "--resolve", resolve, "-H", `Host: ${host}`];
    const curl = Bun.spawn(["curl", ...flags, ...body, url], {
      env: { PATH: process.env["PATH"] ?? "" },
      stdout: "pipe",
      stderr: "inherit",
    });
    return (await new Response(curl.stdout).text()).toLowerCase();
  };
  // Neither private nor deleted pages take new subscribers.
  const subscribers: { id: string }[] = [];
  for (let count = 0; count < 10; count++) {
    subscribers.push(await site.subscribed(`person${count}@example.com`));
  }

  const clickTwice = async (host: string, body: keyof typeof BODIES) => {
    const path = site.path("unsubscribe", { id: subscribers.pop()?.id ?? "" });
    for (let time = 0; time < 2; time++) {
      const answer = await clickAt(host, BODIES[body], path);
      expect([host, body, answer.split("\r\n")[0]]).toEqual([host, body, "http/1.1 200 ok"]);
      expect(answer).not.toMatch(/^(?:location|set-cookie):/m);
      expect(answer).toMatch(/^content-type: text\/plain/m);
    }
  };

  try {
    for (const host of [PUBLIC, DOMAIN]) {
      await clickTwice(host, "urlencoded");
      await clickTwice(host, "multipart");
    }
    await site.change({ slug: "renamed" });
    await clickTwice(PUBLIC, "urlencoded");
    await clickTwice(DOMAIN, "multipart");
    await site.change({ visibility: "private" });
    await clickTwice(PUBLIC, "multipart");
    await clickTwice(DOMAIN, "urlencoded");
    await app.ctx.db.write((tx) => deletePage(app.ctx, tx, page.id, CLI_ACTOR));
    await clickTwice(PUBLIC, "urlencoded");
    await clickTwice(PUBLIC, "multipart");
    expect(new Set(site.subscribers().map(({ status }) => status))).toEqual(
      new Set(["unsubscribed"]),
    );
  } finally {
    await server.stop(true);
  }
});
