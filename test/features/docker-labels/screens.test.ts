import { expect, test } from "bun:test";
import { readHtml } from "../../support/html";
import { startLabelledDocker } from "../../support/docker";
import { startLabelSite } from "../../support/docker-labels";

/** Returns the text of a screen with single spaces. */
const textOf = (html: string) => readHtml(html).texts("main").join(" ");

const WEB = { name: "web-1", labels: { "allclear.monitor": "https://web.example.com" } };

test("the screens of a monitor of labels name its container, and say that the labels reset it", async () => {
  using docker = startLabelledDocker(WEB);
  await using site = await startLabelSite({ local: docker.path });
  const session = await site.signedIn("admin");
  await site.read();
  const { id } = await site.monitor("web-1");
  const open = async (path: string) =>
    textOf((await site.call(`/admin/monitors/${path}`, { session })).text);
  expect(await open(id)).toContain("Labels ofweb-1 on local");
  expect(await open(`${id}/edit`)).toContain(
    "Managed by labels of a containerThe labels of web-1 reset this monitor within a minute.",
  );
  expect(await open(`${id}/delete`)).toContain("which create it again unless you remove them.");
  docker.containers = [];
  await site.read();
  expect(await open(id)).toContain("Labels ofweb-1 on local, removed");
  expect(await open(`${id}/edit`)).toContain(
    "The container web-1 was removed. Once it is made again, its labels reset this monitor.",
  );
  expect(await open(`${id}/delete`)).not.toContain("which create it again");
});

test("monitors of others have no word about labels", async () => {
  using docker = startLabelledDocker();
  await using site = await startLabelSite({ local: docker.path });
  const key = await site.keyWith("manage:monitors");
  const json = { name: "Web", type: "tcp", config: { host: "own.example.com", port: 80 } };
  const { body } = await site.call("/api/v1/monitors", { key, method: "POST", json });
  const session = await site.signedIn("admin");
  await site.read();
  for (const path of ["", `/${body.id}`, `/${body.id}/edit`, `/${body.id}/delete`]) {
    const { text } = await site.call(`/admin/monitors${path}`, { session });
    expect(textOf(text)).not.toMatch(/labels of/i);
  }
});

test("the list of monitors shows admins the hosts that are silent and the labels that are not applied", async () => {
  const wrong = Object.fromEntries(
    Array.from({ length: 7 }, (_, index) => [`allclear.monitor.m${index}.url`, "<b>nonsense"]),
  );
  using docker = startLabelledDocker({ name: "bad", labels: wrong });
  await using site = await startLabelSite({ local: docker.path, nas: "/nowhere/docker.sock" });
  const list = async (role: "admin" | "viewer") =>
    textOf((await site.call("/admin/monitors", { session: await site.signedIn(role) })).text);
  expect(await list("admin")).not.toContain("Labels of containers");
  await site.read();
  const shown = await list("admin");
  expect(shown).toContain(
    "Docker host nas: There is no socket at the path of the Docker host.Meanwhile, the monitors of their labels stay as they are.",
  );
  expect(shown).toContain(
    "bad on local: allclear.monitor.m0.url must be an address such as https://example.com/health.",
  );
  expect(shown).toContain("And 2 more problems.");
  expect(shown).not.toContain("nonsense");
  expect(await list("viewer")).not.toMatch(/labels of containers/i);
  docker.containers = [];
  await site.read();
  expect(await list("admin")).not.toContain("Some labels of containers are not applied");
});
