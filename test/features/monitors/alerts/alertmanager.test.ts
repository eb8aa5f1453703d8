import { expect, test } from "bun:test";
import { join } from "node:path";
import { ALERT_PRESETS } from "../../../../src/features/monitors/screens/alert-fields";
import { type AlertSite, openAlertSite } from "../../../support/alert-reports";
import { holds, PROCESS_TEST_MS } from "../../../support/binary";
import {
  describeWithAlertmanager,
  startAlertmanager,
  startPrometheus,
} from "../../../support/prometheus";
import { temporaryFolder } from "../../../support/temporary-folder";

const CRITICAL = { labels: { alertname: "Errors", service: "checkout", severity: "critical" } };
const WARNING = { labels: { alertname: "Slow", service: "checkout", severity: "warning" } };
const MATCH = { match: ['severity="critical"'], degraded: ['severity="warning"'] };

/** Returns the blocks of docs/alerts.md in a language. */
async function blocksOf(language: "json" | "yaml"): Promise<string[]> {
  const text = await Bun.file(join(import.meta.dir, "../../../../docs/alerts.md")).text();
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm"));
  return [...blocks].map(([, block = ""]) => block);
}

/** Alert that has ended. */
const over = <Alert extends object>(alert: Alert) => ({
  ...alert,
  endsAt: new Date(Date.now() - 1_000).toISOString(),
});

/** The site behind a port, with a shop whose metrics Prometheus reads. */
async function serve(site: AlertSite) {
  const served = {
    origin: "",
    host: "",
    /** Status of the answers to alerts; undefined for the site's own. */
    refuses: undefined as number | undefined,
    /** Statuses of the answers to alerts, in their order. */
    answers: [] as number[],
    errors: 0,
    isSettled: async (state: string, id: string) => holds(async () => site.state(id) === state),
    [Symbol.asyncDispose]: async () => {
      await server.stop(true);
    },
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (request.url.endsWith("/metrics")) return new Response(`shop_errors ${served.errors}\n`);
      const { refuses } = served;
      const answer = refuses
        ? new Response(null, { status: refuses, headers: { "retry-after": "1" } })
        : await site.app.app.handle(request, () => "203.0.113.7");
      served.answers.push(answer.status);
      return answer;
    },
  });
  served.host = `127.0.0.1:${server.port}`;
  served.origin = `http://${served.host}`;
  return served;
}

describeWithAlertmanager("a real Prometheus with Alertmanager", () => {
  test(
    "a rule that fires brings the monitor down and opens an incident, over restarts of both, until it ends",
    async () => {
      await using site = await openAlertSite();
      const { id } = await site.monitor(MATCH, { open_incident: "automatic" });
      await using served = await serve(site);
      await using manager = await startAlertmanager(`${served.origin}/api/v1/alerts`, site.sender);
      served.errors = 1;
      await using prometheus = await startPrometheus(served.host, manager);
      expect(await served.isSettled("down", id)).toBe(true);
      expect(site.open(id)).toEqual([`Orders fail at ${served.host}`]);
      await manager.kill();
      await manager.start();
      await prometheus.kill();
      await prometheus.start();
      const before = served.answers.length;
      expect(await holds(async () => served.answers.length > before + 3)).toBe(true);
      expect(site.state(id)).toBe("down");
      expect(site.open(id)).toHaveLength(1);
      served.errors = 0;
      expect(await served.isSettled("up", id)).toBe(true);
      await site.clock.advance(60_000);
      const events = site.app.events().map(({ type }) => type);
      expect(events.filter((type) => type.startsWith("monitor."))).toEqual([
        "monitor.down",
        "monitor.up",
      ]);
      expect(events.filter((type) => type.startsWith("incident."))).toEqual([
        "incident.created",
        "incident.resolved",
      ]);
      expect(new Set(served.answers)).toEqual(new Set([200]));
    },
    PROCESS_TEST_MS,
  );

  test(
    "twenty repeats change nothing, and a silence ends nothing",
    async () => {
      await using site = await openAlertSite();
      const { id } = await site.monitor(MATCH, { open_incident: "automatic" });
      await using served = await serve(site);
      await using manager = await startAlertmanager(`${served.origin}/api/v1/alerts`, site.sender);
      await manager.fire(CRITICAL, WARNING);
      expect(await served.isSettled("down", id)).toBe(true);
      const events = site.app.events().length;
      expect(await holds(async () => served.answers.length > 20)).toBe(true);
      expect(site.app.events()).toHaveLength(events);
      await manager.silence("alertname", "Errors");
      const silenced = served.answers.length;
      expect(await holds(async () => served.answers.length > silenced + 5)).toBe(true);
      expect(site.state(id)).toBe("down");
      expect(site.open(id)).toHaveLength(2);
    },
    PROCESS_TEST_MS,
  );

  test(
    "of two peers, one goes on where the other has ended",
    async () => {
      await using site = await openAlertSite();
      const { id } = await site.monitor(MATCH);
      await using served = await serve(site);
      const url = `${served.origin}/api/v1/alerts`;
      await using first = await startAlertmanager(url, site.sender);
      await using second = await startAlertmanager(url, site.sender, first);
      for (const peer of [first, second]) await peer.fire(CRITICAL);
      expect(await served.isSettled("down", id)).toBe(true);
      await first.kill();
      await second.fire(over(CRITICAL));
      expect(await served.isSettled("up", id)).toBe(true);
    },
    PROCESS_TEST_MS,
  );

  test.each([503, 429, 422])(
    "while reports are refused with %p nothing is lost: the next one that is taken decides",
    async (status) => {
      await using site = await openAlertSite();
      const { id } = await site.monitor(MATCH);
      await using served = await serve(site);
      await using manager = await startAlertmanager(`${served.origin}/api/v1/alerts`, site.sender);
      served.refuses = status;
      await manager.fire(CRITICAL);
      expect(await holds(async () => served.answers.length >= 3)).toBe(true);
      expect(site.state(id)).toBe("pending");
      served.refuses = undefined;
      expect(await served.isSettled("down", id)).toBe(true);
      served.refuses = status;
      const before = served.answers.length;
      await manager.fire(over(CRITICAL));
      expect(await holds(async () => served.answers.length >= before + 3)).toBe(true);
      expect(site.state(id)).toBe("down");
      served.refuses = undefined;
      expect(await served.isSettled("up", id)).toBe(true);
    },
    PROCESS_TEST_MS,
  );
});

describeWithAlertmanager("the configuration of docs/alerts.md", () => {
  test("is accepted by both programs, also with the dead man's switch pasted below it", async () => {
    using folder = temporaryFolder();
    const blocks = await blocksOf("yaml");
    const block = (start: string) => {
      const found = blocks.filter((each) => each.startsWith(start));
      expect(found).toHaveLength(1);
      return found[0] ?? "";
    };
    const passes = async (tool: string[], content: string) => {
      const path = join(folder.path, "checked.yml");
      await Bun.write(path, content);
      const { exitCode, stdout, stderr } = Bun.spawnSync([...tool, path]);
      expect(`${stdout}${stderr}`).toContain("SUCCESS");
      expect(exitCode).toBe(0);
    };
    const alertmanager = block("# alertmanager.yml\n");
    const [route = "", receivers = ""] = alertmanager.split(/^(?=receivers:)/m);
    await passes(["amtool", "check-config"], alertmanager);
    await passes(
      ["amtool", "check-config"],
      route + block("  routes:\n") + receivers + block("  - name: allclear-watchdog\n"),
    );
    const rules = blocks.filter((each) => /^# \S+\ngroups:/.test(each));
    expect(rules).toHaveLength(2);
    for (const each of rules) await passes(["promtool", "check", "rules"], each);
    // Files that the configuration names are not here.
    const prometheus = ["promtool", "check", "config", "--syntax-only"];
    await passes(prometheus, block("# prometheus.yml\n"));
  });
});

test("the monitors of docs/alerts.md are created as they stand there, and its mapping is that of the form", async () => {
  await using site = await openAlertSite();
  const blocks = (await blocksOf("json")).map((block) => JSON.parse(block));
  expect(blocks).toContainEqual(ALERT_PRESETS["gatus"]?.mapping);
  const monitors = blocks.filter(({ type }) => type !== undefined);
  expect(monitors).toHaveLength(2);
  const refs: string[] = [];
  for (const json of monitors) {
    const sent = { method: "POST", key: site.key, json };
    const { status, body } = await site.app.call("/api/v1/monitors", sent);
    expect(status).toBe(201);
    refs.push(body.ref);
  }
  // The name by which `watchdog` of an alert monitor is to name it.
  expect(refs).toEqual(["checkout", "watchdog"]);
});
