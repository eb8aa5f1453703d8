import { expect, test } from "bun:test";
import { HOME_HOST } from "../support/browser-site";
import { createTestClock } from "../support/clock";
import { runCurl } from "../support/curl";
import { createPageAccess, PAGE_PASSWORD } from "../support/page-access";
import { serveApp } from "../support/served-app";
import { temporaryFolder } from "../support/temporary-folder";

const DOCUMENT = new URL("../../docs/private-pages.md", import.meta.url);

test("the commands of docs/private-pages.md read a private page by a link, a key and the password", async () => {
  using folder = temporaryFolder();
  await using served = await serveApp({ clock: createTestClock(), host: HOME_HOST });
  const { app, origin } = served;
  app.ctx.baseUrl = origin;
  const { page } = await app.page({ slug: "inside", visibility: "private" });
  const access = createPageAccess(app, page.id);
  await access.password(PAGE_PASSWORD);
  const { token } = await access.link("Script");
  const key = await app.keyWith("read:status");
  const text = await Bun.file(DOCUMENT).text();
  const commands = [...text.matchAll(/```sh\n([\s\S]*?)```/g)]
    .map(([, block = ""]) => block)
    .filter((block) => block.includes("curl"))
    .flatMap((block) => block.trim().split(/(?<!\\)\n/))
    .map((command) =>
      command.replaceAll("https://status.example.com", origin).replaceAll("TOKEN", token),
    );
  const run = (command = "") =>
    runCurl(
      `cd ${folder.path}; KEY=${key} PASSWORD='${PAGE_PASSWORD}'; ${command}`,
      new URL(origin).host,
    );
  expect(commands).toHaveLength(4);
  const [byLink, byKey, entering, visiting] = commands;
  expect(await run(byLink)).toMatchObject({ status: 200, body: { status: "none" } });
  expect(await run(byKey)).toMatchObject({ status: 200, body: { page: { slug: "inside" } } });
  expect((await run(visiting)).status).toBe(404);
  expect((await run(entering)).status).toBe(303);
  expect(await run(visiting)).toMatchObject({ status: 200, body: { status: "none" } });
  await access.password("another password 2");
  expect((await run(visiting)).status).toBe(404);
});
