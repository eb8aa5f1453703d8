import { expect, test } from "bun:test";
import { join } from "node:path";
import { createImportSite } from "../support/import-site";
import { readGatus } from "../../src/imports/gatus/read";
import { readHealthchecks } from "../../src/imports/healthchecks/read";
import { readUptimeKuma } from "../../src/imports/uptime-kuma/read";
import type { Found } from "../../src/imports/found";

/** Files with unusual settings, as people have them. */
const FOLDER = join(import.meta.dir, "fixtures", "unusual");

const GATUS = {
  history: undefined,
  envFile: undefined,
  environment: {},
  allowsUnset: true,
  readsNamedFiles: false,
};

const READERS: Readonly<Record<string, (path: string) => Promise<Found>>> = {
  "uptime-kuma.json": readUptimeKuma,
  "gatus.yaml": (path) => readGatus(path, GATUS),
  "healthchecks.json": (path) => readHealthchecks(path, { pingKey: undefined }),
};

/** One row a monitor: its file, its name there, its verdict, and a part of what it has here. */
test.each<[file: string, name: string, verdict: string, monitor: object]>([
  [
    "uptime-kuma.json",
    "web",
    "created",
    { paused: false, config: { host: "app.example.com", headers: { "X-A": "1" } } },
  ],
  ["uptime-kuma.json", "bad headers", "held", { paused: true, type: "unsupported" }],
  ["uptime-kuma.json", "port0", "held", { paused: true, config: { type: "tcp" } }],
  ["uptime-kuma.json", "dup id", "disabled", { paused: true, type: "http" }],
  ["uptime-kuma.json", "json", "disabled", { paused: true, config: { url: "http://example.com" } }],
  ["uptime-kuma.json", "mongo", "held", { paused: true }],
  // Its token has ten characters.
  ["uptime-kuma.json", "push", "changed", { paused: false, type: "push" }],
  [
    "gatus.yaml",
    "host-header",
    "created",
    { paused: false, config: { url: "http://10.0.0.5/", host: "app.example.com" } },
  ],
  ["gatus.yaml", "udp", "held", { paused: true }],
  ["gatus.yaml", "future", "held", { paused: true, type: "unsupported" }],
  ["gatus.yaml", "ws", "disabled", { paused: true, config: { url: "wss://example.com/" } }],
  ["healthchecks.json", "ro", "disabled", { paused: true, type: "push" }],
  ["healthchecks.json", "sat5", "created", { config: { schedule: "0 0 * * sat#5" } }],
])("of %s, %s is %s", async (file, name, verdict, expected) => {
  await using site = await createImportSite();
  const found = await READERS[file]?.(join(FOLDER, file));
  const report = await site.importFound(found ?? {});
  const [item] = report.items.filter(
    ({ foreign, target }) => foreign.name === name && target?.kind === "monitor",
  );
  expect(item).toMatchObject({ verdict });
  if (verdict === "disabled" || verdict === "held") expect(item?.reason).toBeTruthy();
  const monitor = site.monitors().find(({ id }) => id === item?.target?.id);
  expect(monitor).toMatchObject(expected);
});

test.each(Object.keys(READERS))("no monitor of %s is dropped", async (file) => {
  await using site = await createImportSite();
  const found = await READERS[file]?.(join(FOLDER, file));
  const report = await site.importFound(found ?? {});
  const monitors = new Set(["monitor", "endpoint", "external-endpoint", "check"]);
  const dropped = report.items.filter(
    // A group is a label of its members.
    ({ foreign, verdict, reason }) =>
      monitors.has(foreign.type) && verdict === "not_moved" && !reason?.includes("label"),
  );
  expect(dropped).toEqual([]);
});
