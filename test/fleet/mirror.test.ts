import { expect, test } from "bun:test";
import { join } from "node:path";
import { CLI_ACTOR } from "../../src/base/actor";
import { MINUTE_MS, SECOND_MS } from "../../src/base/time";
import { openObjectStore } from "../../src/object-store/open";
import { createTestApp, type TestApp } from "../support/app";
import { describeWithPrograms } from "../support/fleet/describe";
import { startNginx } from "../support/fleet/proxies";
import { S3_SERVERS, type S3Server, type S3ServerName, startS3 } from "../support/fleet/s3";
import { readHtml } from "../support/html";
import { startTestMirror } from "../support/mirror-site";
import { temporaryFolder } from "../support/temporary-folder";
import { updatePage } from "../support/examined";

/** Files with the headers of their live documents. */
const EXAMPLES = [
  "index.html",
  "status/acme/index.html",
  "status/acme/summary.json",
  "status/acme/feed.atom",
  "status/acme/feed.rss",
  "status/acme/calendar.ics",
  "status/acme/badge.svg",
  "status/acme/widget.js",
  "robots.txt",
  "favicon.ico",
  "apple-touch-icon.png",
];

/** Headers that the servers keep. */
const HEADERS: Readonly<Record<S3ServerName, readonly string[]>> = {
  gofakes3: ["content-type"],
  versitygw: ["content-type", "cache-control"],
};

const livePath = (path: string) => `/${path.replace(/\/?index\.html$/, "")}`;

async function createShop(): Promise<{ app: TestApp; acme: string }> {
  const app = await createTestApp();
  const { page } = await app.page({ slug: "acme", name: "Acme" });
  await app.page({ slug: "other", name: "Other" });
  return { app, acme: page.id };
}

/** Reads an object of a bucket as a visitor of a presigned address. */
function read(server: S3Server, path: string): Promise<Response> {
  const { credentials, endpoint } = server;
  const { bucket, region } = server.addressOf("");
  const client = new Bun.S3Client({
    accessKeyId: credentials.keyId,
    secretAccessKey: credentials.secret,
    bucket,
    region,
    endpoint,
  });
  return fetch(client.presign(`mirror/${path}`));
}

await describeWithPrograms("a mirror in a bucket", { go: S3_SERVERS }, () => {
  for (const name of S3_SERVERS) {
    test(`${name} keeps the headers of files, and loses the files of a private page`, async () => {
      await using server = await startS3(name);
      const store = server.open("mirror");
      const { app, acme } = await createShop();
      await using _ = app;
      const { mirror, pass } = await startTestMirror(app, store);
      await pass(0);
      expect(mirror.state().error).toBeUndefined();
      for (const path of EXAMPLES) {
        const copy = await read(server, path);
        const live = await app.call(livePath(path));
        for (const header of HEADERS[name]) {
          expect(copy.headers.get(header), path).toBe(live.headers.get(header) ?? "");
        }
      }
      const index = await (await read(server, "mirror.json")).json();
      const paths = (await store.list("")).map(({ key }) => key);
      expect(Object.keys(index.files)).toEqual(paths.filter((path) => path !== "mirror.json"));
      const { ctx } = app;
      await ctx.db.write((tx) => updatePage(ctx, tx, acme, { visibility: "private" }, CLI_ACTOR));
      await mirror.settled();
      expect(await store.list("status/acme/")).toEqual([]);
      expect((await read(server, "status/acme/index.html")).status).toBe(404);
      expect((await read(server, "status/other/index.html")).status).toBe(200);
      await mirror.stop();
    });
  }

  test("a store that does not answer is named, and the mirror is complete afterwards", async () => {
    await using server = await startS3();
    const { app } = await createShop();
    await using _ = app;
    const store = server.open("mirror", { deadlineMs: SECOND_MS });
    const { mirror, pass } = await startTestMirror(app, store);
    await pass(0);
    // A busy machine may take longer than the deadline.
    while (mirror.state().error !== undefined) await pass(MINUTE_MS);
    server.freeze();
    await app.page({ slug: "third", name: "Third" });
    await pass(SECOND_MS);
    expect(mirror.state().error).toContain("did not answer within 1 s");
    server.thaw();
    while (mirror.state().error !== undefined) await pass(MINUTE_MS);
    expect((await read(server, "status/third/index.html")).status).toBe(200);
    await mirror.stop();
  });
});

/** Writes the mirror of a shop into a folder. */
async function writeShop(path: string) {
  const { app } = await createShop();
  const store = openObjectStore({ kind: "folder", path }, undefined, { clock: app.clock });
  const { mirror, pass } = await startTestMirror(app, store);
  await pass(0);
  return { app, mirror };
}

/** Returns the examples for nginx of the documentation, with other addresses. */
async function readExamples(replaced: Record<string, string>): Promise<string[]> {
  const text = await Bun.file(join(import.meta.dir, "../../docs/mirror.md")).text();
  return [...text.matchAll(/```nginx\n([\s\S]*?)```/g)].map(([, example = ""]) =>
    Object.entries(replaced).reduce((all, [from, to]) => all.replaceAll(from, to), example),
  );
}

await describeWithPrograms("a mirror behind nginx", { debian: ["nginx"] }, () => {
  test("the documented web server sends copies at the live paths with their media types", async () => {
    using folder = temporaryFolder();
    const { app, mirror } = await writeShop(folder.path);
    await using _ = app;
    const { promise: port, resolve } = Promise.withResolvers<number>();
    const [server = ""] = await readExamples({ "/srv/mirror": folder.path });
    await using nginx = await startNginx(({ port: own }) => {
      resolve(own);
      return server.replace("listen 443 ssl", `listen 127.0.0.1:${own}`);
    });
    void nginx;
    for (const path of EXAMPLES) {
      const copy = await fetch(`http://127.0.0.1:${await port}${livePath(path)}`);
      const live = await app.call(livePath(path));
      expect(copy.status, path).toBe(200);
      const typeOf = ({ headers }: { headers: Headers }) =>
        headers.get("content-type")?.replace("; ", ";");
      expect(typeOf(copy)?.split(";", 1), path).toEqual(typeOf(live)?.split(";", 1));
    }
    const missing = await fetch(`http://127.0.0.1:${await port}/status/nothing`);
    expect(missing.status).toBe(404);
    await mirror.stop();
  });

  test("the documented proxy sends copies while the server is stopped, and errors for all else", async () => {
    using folder = temporaryFolder();
    const { app, mirror } = await writeShop(folder.path);
    await using _ = app;
    const live = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => app.app.handle(request, () => "127.0.0.1"),
    });
    const [, locations = ""] = await readExamples({
      "/srv/mirror": folder.path,
      "127.0.0.1:8080": `127.0.0.1:${live.port}`,
    });
    await using nginx = await startNginx(
      ({ port }) => `server {
        listen 127.0.0.1:${port};
        types { text/html html; application/json json; }
        ${locations}
      }`,
    );
    const get = (path: string, method = "GET") =>
      fetch(`http://127.0.0.1:${nginx.port}${path}`, { method });
    const made = async (path: string) =>
      readHtml(await (await get(path)).text()).texts("[data-made-at]");
    expect(await made("/status/acme")).toEqual([]);
    await live.stop(true);
    expect(await made("/status/acme")).toEqual(["Copy made 12:00 UTC on 10 Mar 2026"]);
    expect(await made("/")).toEqual(["Copy made 12:00 UTC on 10 Mar 2026"]);
    expect((await get("/status/acme/summary.json")).status).toBe(200);
    expect((await get("/status/nothing")).status).toBe(503);
    expect((await get("/api/v1/status/acme")).status).toBe(502);
    expect((await get("/admin/pages")).status).toBe(502);
    expect((await get("/status/acme/subscribe", "POST")).status).toBeGreaterThanOrEqual(400);
    await mirror.stop();
  });
});
