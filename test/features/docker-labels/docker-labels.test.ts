import { describe, expect, test } from "bun:test";
import { createEgress } from "../../../src/egress/egress";
import { startDockerLabels } from "../../../src/features/docker-labels/docker-labels";
import { type ListedContainer, startLabelledDocker } from "../../support/docker";
import { startLabelSite } from "../../support/docker-labels";
import { usePingProgram } from "../../support/ping-program";
import { until } from "../../support/until";

const WEB: ListedContainer = {
  name: "web",
  labels: { "allclear.monitor": "https://web.example.com" },
};

const named = (name: string, labels: Record<string, string>): ListedContainer => ({
  name,
  labels: Object.fromEntries(
    Object.entries(labels).map(([field, value]) => [`allclear.monitor.${name}.${field}`, value]),
  ),
});

describe("monitors of labels", () => {
  test("one label with an address makes a monitor, named like the service of the container", async () => {
    using docker = startLabelledDocker({
      name: "shop-web-1",
      labels: {
        "allclear.monitor": "https://shop.example.com/health",
        "com.docker.compose.project": "shop",
        "com.docker.compose.service": "web",
      },
    });
    await using site = await startLabelSite({ local: docker.path });
    expect(await site.read()).toMatchObject({ silent: [], problems: [], more: 0 });
    expect(docker.requests).toEqual(["GET /containers/json?all=true"]);
    expect(await site.refs()).toEqual(["shop-web"]);
    expect(await site.monitor("shop-web")).toMatchObject({
      name: "shop-web",
      type: "http",
      paused: false,
      config: { url: "https://shop.example.com/health" },
      interval_seconds: 60,
    });
    expect(site.audit().at(-1)).toMatchObject({ action: "monitor.create", actorKind: "system" });
  });

  test("labels set the fields of all types that they can declare", async () => {
    using _ping = usePingProgram("exit 0");
    using docker = startLabelledDocker(
      named("shop", {
        url: "https://shop.example.com",
        name: "Checkout of the shop",
        interval: "30",
        component: "acme/checkout",
        method: "HEAD",
        verify_tls: "false",
        tags: "shop, production",
        group: "Shop",
        depends_on: "gateway",
        assertions: '[{"source":"status","op":"in","value":["200-299",401]}]',
        failure_threshold: "2",
        open_incident: "draft",
      }),
      named("db", { type: "tcp", host: "db.example.com", port: "5432" }),
      named("gateway", { type: "ping", host: "192.0.2.1" }),
      named("tls", { type: "tls", host: "shop.example.com", days: "20" }),
      named("backup", { type: "push", interval: "86400", grace_seconds: "600" }),
      named("cache", { url: "tcp://cache.example.com:6379" }),
      named("mail", { url: "tls://[2001:db8::1]:993" }),
      named("router", { url: "ping://router.example.com" }),
    );
    await using site = await startLabelSite({ local: docker.path });
    const { components } = await site.page({ name: "Acme", slug: "acme" }, ["Checkout"]);
    expect(await site.read()).toMatchObject({ silent: [], problems: [] });
    const gateway = await site.monitor("gateway");
    expect(await site.monitor("shop")).toMatchObject({
      name: "Checkout of the shop",
      interval_seconds: 30,
      component_ids: [components["Checkout"]],
      config: {
        method: "HEAD",
        verify_tls: false,
        assertions: [{ source: "status", op: "in", value: ["200-299", 401] }],
      },
      tags: ["shop", "production"],
      group: "Shop",
      depends_on: [gateway.id],
      failure_threshold: 2,
      open_incident: "draft",
    });
    const configs = ["db", "gateway", "tls", "backup", "cache", "mail", "router"].map(
      async (ref) => {
        const { type, interval_seconds: interval, config } = await site.monitor(ref);
        return { type, interval, config };
      },
    );
    expect(await Promise.all(configs)).toMatchObject([
      { type: "tcp", config: { host: "db.example.com", port: 5432 } },
      { type: "ping", config: { host: "192.0.2.1" } },
      { type: "tls", config: { host: "shop.example.com", days: 20 } },
      { type: "push", interval: 86_400, config: { grace_seconds: 600 } },
      { type: "tcp", config: { host: "cache.example.com", port: 6379 } },
      { type: "tls", config: { host: "2001:db8::1", port: 993 } },
      { type: "ping", config: { host: "router.example.com" } },
    ]);
  });

  test("changed labels change the monitor, and labels that stay change nothing", async () => {
    using docker = startLabelledDocker(named("shop", { url: "https://shop.example.com" }));
    await using site = await startLabelSite({ local: docker.path });
    await site.read(3);
    const first = await site.monitor("shop");
    expect(first.version).toBe(1);
    docker.containers = [named("shop", { url: "https://shop.example.com/health", interval: "20" })];
    await site.read(3);
    const second = await site.monitor("shop");
    expect(second).toMatchObject({
      id: first.id,
      version: 2,
      interval_seconds: 20,
      config: { url: "https://shop.example.com/health" },
    });
  });

  test("an edit in the dashboard is reset, and a deleted monitor is created again", async () => {
    using docker = startLabelledDocker(WEB);
    await using site = await startLabelSite({ local: docker.path });
    const key = await site.keyWith("manage:monitors");
    await site.read(2);
    const path = "/api/v1/monitors/web";
    await site.call(path, { key, method: "PATCH", json: { interval_seconds: 300 } });
    await site.read();
    expect(await site.monitor("web")).toMatchObject({ interval_seconds: 60 });
    await site.call(path, { key, method: "DELETE" });
    expect(await site.monitor("web")).toBeUndefined();
    await site.read();
    expect(await site.monitor("web")).toMatchObject({ interval_seconds: 60 });
  });

  test("the label `paused` counts for a new monitor only, and people pause and resume it then", async () => {
    using docker = startLabelledDocker(
      named("shop", { url: "https://shop.example.com", paused: "true" }),
    );
    await using site = await startLabelSite({ local: docker.path });
    const key = await site.keyWith("manage:monitors");
    await site.read(2);
    expect((await site.monitor("shop")).paused).toBe(true);
    await site.call("/api/v1/monitors/shop/resume", { key, method: "POST" });
    await site.read(2);
    expect((await site.monitor("shop")).paused).toBe(false);
    await site.call("/api/v1/monitors/shop/pause", { key, method: "POST" });
    await site.read(2);
    expect((await site.monitor("shop")).paused).toBe(true);
  });
});

describe("containers of monitors", () => {
  test("a stopped container keeps its monitor, and one that was never started makes none", async () => {
    using docker = startLabelledDocker(WEB, {
      name: "new",
      labels: { "allclear.monitor": "https://new.example.com" },
      state: "created",
    });
    await using site = await startLabelSite({ local: docker.path });
    await site.read();
    expect(await site.refs()).toEqual(["web"]);
    docker.containers = docker.containers.map((each) => ({ ...each, state: "exited" }));
    await site.read(3);
    expect(await site.monitor("web")).toMatchObject({ paused: false });
    expect(await site.refs()).toEqual(["web"]);
  });

  test("a removed container pauses its monitor, which is resumed with the next one", async () => {
    using docker = startLabelledDocker(WEB);
    await using site = await startLabelSite({ local: docker.path });
    await site.read();
    const { id } = await site.monitor("web");
    docker.containers = [];
    await site.read();
    expect(await site.monitor("web")).toMatchObject({ id, paused: true });
    await site.clock.advance(60 * 60_000 - 15_000);
    await site.read();
    expect(await site.monitor("web")).toMatchObject({ id, paused: true });
    docker.containers = [WEB];
    await site.read();
    expect(await site.monitor("web")).toMatchObject({ id, paused: false });
  });

  test("a monitor that somebody paused stays paused when its container is made again", async () => {
    using docker = startLabelledDocker(WEB);
    await using site = await startLabelSite({ local: docker.path });
    const key = await site.keyWith("manage:monitors");
    await site.read();
    await site.call("/api/v1/monitors/web/pause", { key, method: "POST" });
    docker.containers = [];
    await site.read();
    docker.containers = [WEB];
    await site.read(2);
    expect((await site.monitor("web")).paused).toBe(true);
  });

  test("a monitor that somebody resumes without its container stays resumed", async () => {
    using docker = startLabelledDocker(WEB);
    await using site = await startLabelSite({ local: docker.path });
    const key = await site.keyWith("manage:monitors");
    await site.read();
    docker.containers = [];
    await site.read();
    await site.call("/api/v1/monitors/web/resume", { key, method: "POST" });
    await site.read(2);
    expect((await site.monitor("web")).paused).toBe(false);
  });

  test("a monitor that somebody resumes and pauses without its container stays paused", async () => {
    using docker = startLabelledDocker(WEB);
    await using site = await startLabelSite({ local: docker.path });
    const key = await site.keyWith("manage:monitors");
    await site.read();
    docker.containers = [];
    await site.read();
    await site.call("/api/v1/monitors/web/resume", { key, method: "POST" });
    await site.read();
    await site.call("/api/v1/monitors/web/pause", { key, method: "POST" });
    docker.containers = [WEB];
    await site.read();
    expect((await site.monitor("web")).paused).toBe(true);
  });

  test("pruning deletes a monitor ten minutes after its container was removed", async () => {
    using docker = startLabelledDocker(WEB, named("db", { url: "tcp://db.example.com:5432" }));
    const env = { ALLCLEAR_DOCKER_PRUNE: "on" };
    await using site = await startLabelSite({ local: docker.path }, env);
    await site.read();
    docker.containers = docker.containers.slice(0, 1);
    await site.read(40);
    expect(await site.refs()).toEqual(["db", "web"]);
    await site.read(1);
    expect(await site.refs()).toEqual(["web"]);
  });

  test("pruning keeps a monitor whose container is made again within ten minutes", async () => {
    using docker = startLabelledDocker(WEB);
    const env = { ALLCLEAR_DOCKER_PRUNE: "on" };
    await using site = await startLabelSite({ local: docker.path }, env);
    await site.read();
    docker.containers = [];
    await site.read(30);
    docker.containers = [WEB];
    await site.read(30);
    expect(await site.monitor("web")).toMatchObject({ paused: false });
  });

  test("containers of one service share a monitor, which stays with the last of them", async () => {
    const service = (number: number): ListedContainer => ({
      name: `shop-web-${number}`,
      labels: {
        ...WEB.labels,
        "com.docker.compose.project": "shop",
        "com.docker.compose.service": "web",
      },
    });
    using docker = startLabelledDocker(service(1), service(2));
    await using site = await startLabelSite({ local: docker.path });
    expect(await site.read()).toMatchObject({ problems: [] });
    expect(await site.refs()).toEqual(["shop-web"]);
    docker.containers = [service(2)];
    await site.read();
    expect((await site.monitor("shop-web")).paused).toBe(false);
    docker.containers = [];
    await site.read();
    expect((await site.monitor("shop-web")).paused).toBe(true);
  });

  test("containers of one service of Swarm share a monitor, whatever their own names are", async () => {
    const task = (name: string): ListedContainer => ({
      name,
      labels: { ...WEB.labels, "com.docker.swarm.service.name": "shop_web" },
    });
    using docker = startLabelledDocker(task("shop_web.1.x8hq"), task("shop_web.2.k2vd"));
    await using site = await startLabelSite({ local: docker.path });
    expect(await site.read()).toMatchObject({ problems: [] });
    docker.containers = [task("shop_web.1.z0zz")];
    await site.read();
    expect(await site.refs()).toEqual(["shop-web"]);
    expect(await site.monitor("shop-web")).toMatchObject({ name: "shop_web", paused: false });
  });

  test("a container has its own name, not one that another container has for it", async () => {
    using docker = startLabelledDocker();
    await using site = await startLabelSite({ local: docker.path });
    const Labels = { "allclear.monitor": "tcp://db.example.com:5432" };
    docker.answer = Response.json([
      { Id: "5f", Names: ["/shop/database", "/db"], State: "running", Created: 1, Labels },
    ]);
    await site.read();
    expect(await site.refs()).toEqual(["db"]);
  });

  test("of containers that declare a monitor differently the newest running one counts, and the other is reported", async () => {
    const old = { ...named("shop", { url: "https://old.example.com" }), created: 1_000 };
    const recent = {
      ...named("shop", { url: "https://new.example.com" }),
      name: "two",
      created: 2_000,
    };
    using docker = startLabelledDocker(old, { ...recent, state: "exited" });
    await using site = await startLabelSite({ local: docker.path });
    await site.read();
    expect(await site.monitor("shop")).toMatchObject({
      config: { url: "https://old.example.com" },
    });
    expect(site.problems()).toEqual([]);
    docker.containers = [old, recent];
    await site.read();
    expect(await site.monitor("shop")).toMatchObject({
      config: { url: "https://new.example.com" },
    });
    expect(site.labels.report().problems).toEqual([
      {
        host: "local",
        container: "shop",
        detail:
          "allclear.monitor.shop is also declared by the container two, with other labels. Those count.",
      },
    ]);
  });

  test("labels have declared at most 200 monitors, and a deleted one makes room", async () => {
    using docker = startLabelledDocker(
      ...Array.from({ length: 202 }, (_, index) => ({
        ...named(`m${index}`, { url: `tcp://m${index}.example.com:80` }),
        created: 1_000 + index,
      })),
    );
    await using site = await startLabelSite({ local: docker.path });
    const key = await site.keyWith("manage:monitors");
    await site.read(2);
    const tooMany =
      "declares a monitor more than the 200 of labels. Delete those whose containers were removed.";
    expect(site.problems()).toEqual([
      `allclear.monitor.m200 ${tooMany}`,
      `allclear.monitor.m201 ${tooMany}`,
    ]);
    expect(await site.monitor("m199")).toBeDefined();
    docker.containers = docker.containers.slice(1);
    await site.read(2);
    expect(await site.monitor("m200")).toBeUndefined();
    await site.call("/api/v1/monitors/m0", { key, method: "DELETE" });
    await site.read();
    expect(await site.monitor("m200")).toBeDefined();
    expect(site.problems()).toEqual([`allclear.monitor.m201 ${tooMany}`]);
  });
});

describe("labels of a hostile image", () => {
  test("labels that are not applied leave the room to those of others", async () => {
    const wrong = Array.from({ length: 250 }, (_, index) => [
      [`allclear.monitor.a${index}.url`, "nonsense"],
      [`allclear.monitor.b${index}.url`, "https://b.example.com"],
      [`allclear.monitor.b${index}.component`, "no/such"],
    ]);
    using docker = startLabelledDocker(
      { name: "hostile", labels: Object.fromEntries(wrong.flat()), created: 1 },
      WEB,
    );
    await using site = await startLabelSite({ local: docker.path });
    expect(await site.read()).toMatchObject({ more: 450 });
    expect(await site.refs()).toEqual(["web"]);
  });

  test("labels that change all the time change monitors 600 times, and then once in 15 seconds", async () => {
    const flapping = (round: number): ListedContainer[] =>
      Array.from({ length: 100 }, (_, index) =>
        named(`m${index}`, { url: `tcp://m${index}.example.com:${8_000 + round}` }),
      );
    using docker = startLabelledDocker(...flapping(0));
    await using site = await startLabelSite({ local: docker.path });
    const audits = () => site.audit().length;
    const before = audits();
    for (let round = 1; round < 6; round += 1) {
      await site.read();
      docker.containers = flapping(round);
    }
    await site.read();
    const written = audits() - before;
    expect(written).toBeGreaterThanOrEqual(600);
    for (let round = 6; round < 10; round += 1) {
      docker.containers = flapping(round);
      await site.read();
    }
    expect(audits() - before - written).toBeLessThanOrEqual(10);
    const waits = "Labels have changed monitors 600 times in a short time. This change waits.";
    expect(site.problems().at(-1)).toMatch(/^allclear\.monitor\.m\d+: /);
    expect(site.problems().at(-1)).toEndWith(`: ${waits}`);
    // Removed containers wait as well, and what waited follows.
    docker.containers = [];
    await site.read();
    expect(site.problems().at(-1)).toMatch(/^m\d+: /);
    expect(site.problems().at(-1)).toEndWith(`: ${waits}`);
    await site.read(110);
    expect(site.problems()).toEqual([]);
    expect(await site.monitor("m99")).toMatchObject({ paused: true });
  });

  test("thousands of monitors with the ref of a long one cost little more than a few", async () => {
    /** Returns the CPU time of a read in which further labels have the ref of a monitor with 700 long labels. */
    async function costOf(count: number): Promise<number> {
      const long = Array.from({ length: 700 }, (_, index) => [
        `allclear.monitor.web.f${index}`,
        "x".repeat(4_000),
      ]);
      const same = Array.from({ length: count }, (_, index) => [
        `allclear.monitor.web${"-".repeat(1 + (index % 60))}${"_".repeat(index / 60)}.url`,
        "x",
      ]);
      using docker = startLabelledDocker(
        { name: "long", labels: Object.fromEntries(long), created: 2 },
        { name: "same", labels: Object.fromEntries(same), created: 1 },
      );
      await using site = await startLabelSite({ local: docker.path });
      const before = process.cpuUsage().user;
      expect(await site.read()).toMatchObject({ silent: [], more: 700 + count - 50 });
      return process.cpuUsage().user - before;
    }
    await costOf(40);
    expect(await costOf(4_000)).toBeLessThan(20 * (await costOf(40)));
  });

  test("a container with many wrong labels does not hide those of another one", async () => {
    const wrong = Array.from({ length: 60 }, (_, index) => [`allclear.monitor.a${index}.url`, "x"]);
    using docker = startLabelledDocker(
      { name: "hostile", labels: Object.fromEntries(wrong), created: 1 },
      { ...named("shop", { url: "nonsense" }), created: 2 },
      { ...named("db", { url: "nonsense" }), created: 3 },
    );
    await using site = await startLabelSite({ local: docker.path });
    const { problems, more } = await site.read();
    expect(problems.slice(0, 3).map(({ container }) => container)).toEqual([
      "hostile",
      "shop",
      "db",
    ]);
    expect([problems.length, more]).toEqual([50, 12]);
  });
});

describe("Docker hosts with labels", () => {
  const brokenAnswers: [Response, string][] = [
    [new Response("", { status: 500 }), "Docker answered with status 500."],
    [new Response("<html>"), "Docker's answer could not be read."],
    [Response.json({ message: "no" }), "Docker's answer could not be read."],
    [Response.json([{ error: "no" }]), "Docker's answer could not be read."],
    [Response.json([null]), "Docker's answer could not be read."],
    [
      Response.json([
        {
          Id: "5f",
          Names: ["/web"],
          Labels: Object.fromEntries(
            Array.from({ length: 5_001 }, (_, index) => [`allclear.monitor.m${index}.url`, "x"]),
          ),
        },
      ]),
      "Its containers have more than 5,000 labels for monitors.",
    ],
    [
      new Response(`[${" ".repeat(4 * 1024 * 1024)}]`),
      "The list of containers is longer than 4 MiB, or was cut off.",
    ],
  ];
  for (const [answer, detail] of brokenAnswers) {
    test(`an answer changes nothing that leads to: ${detail} (${answer.status}, ${answer.headers.get("content-type")})`, async () => {
      using docker = startLabelledDocker(WEB);
      await using site = await startLabelSite({ local: docker.path });
      await site.read();
      docker.answer = answer;
      expect(await site.read(2)).toMatchObject({
        silent: [{ host: "local", detail }],
        problems: [],
      });
      expect((await site.monitor("web")).paused).toBe(false);
      docker.answer = undefined;
      docker.containers = [];
      expect(await site.read()).toMatchObject({ silent: [] });
      expect((await site.monitor("web")).paused).toBe(true);
    });
  }

  test("a host that does not end its answer is given up after ten seconds, and asked again", async () => {
    using docker = startLabelledDocker(WEB);
    await using site = await startLabelSite({ local: docker.path });
    docker.answer = new Response(new ReadableStream({ start: (body) => body.enqueue("[") }));
    await site.clock.advance(2_000);
    await until(() => docker.requests.length === 1);
    await site.clock.advance(9_000);
    expect(site.labels.report().readAt).toBeUndefined();
    await site.clock.advance(1_000);
    await until(() => site.labels.report().readAt !== undefined);
    expect(site.labels.report().silent).toMatchObject([{ host: "local" }]);
    docker.answer = undefined;
    expect(await site.read()).toMatchObject({ silent: [] });
    expect(await site.refs()).toEqual(["web"]);
  });

  test("a host that lists no container at all pauses its monitors after ten minutes, and deletes none", async () => {
    using docker = startLabelledDocker(WEB);
    using other = startLabelledDocker(named("db", { url: "tcp://db.example.com:5432" }));
    const env = { ALLCLEAR_DOCKER_PRUNE: "on" };
    await using site = await startLabelSite({ local: docker.path, nas: other.path }, env);
    const isPaused = async () => (await site.monitor("web")).paused;
    await site.read();
    docker.answer = Response.json([]);
    const detail =
      "Docker lists no container at all. If that lasts for ten minutes, the monitors are paused.";
    expect(await site.read(40)).toMatchObject({ silent: [{ host: "local", detail }] });
    expect(await isPaused()).toBe(false);
    // A failure in between begins the ten minutes again.
    docker.answer = new Response("", { status: 502 });
    await site.read();
    docker.answer = Response.json([]);
    await site.read(40);
    expect(await isPaused()).toBe(false);
    expect(await site.read()).toMatchObject({ silent: [] });
    expect(await isPaused()).toBe(true);
    await site.read(60);
    expect(await isPaused()).toBe(true);
    expect((await site.monitor("db")).paused).toBe(false);
    docker.answer = undefined;
    await site.read();
    expect(await isPaused()).toBe(false);
    docker.containers = [];
    await site.read(41);
    expect(await site.refs()).toEqual(["db"]);
  });

  test("a host that lists a container again deletes the monitors of those that are gone", async () => {
    using docker = startLabelledDocker(WEB);
    const env = { ALLCLEAR_DOCKER_PRUNE: "on" };
    await using site = await startLabelSite({ local: docker.path }, env);
    await site.read();
    docker.answer = Response.json([]);
    await site.read(100);
    expect(await site.refs()).toEqual(["web"]);
    docker.containers = [];
    docker.answer = undefined;
    await site.read();
    expect(await site.refs()).toEqual([]);
  });

  test("a node that is the primary again has forgotten the containers of a host that is silent", async () => {
    using docker = startLabelledDocker(WEB);
    await using site = await startLabelSite({ local: docker.path });
    const key = await site.keyWith("manage:monitors");
    await site.read();
    const { isPrimary } = site.ctx;
    site.ctx.isPrimary = () => false;
    await site.clock.advance(15_000);
    expect(site.labels.report()).toEqual({ silent: [], problems: [], more: 0, readAt: undefined });
    await site.call("/api/v1/monitors/web", { key, method: "DELETE" });
    site.ctx.isPrimary = isPrimary;
    docker.answer = new Response("", { status: 502 });
    await site.clock.advance(13_000);
    await site.read();
    expect(site.labels.report().silent).toHaveLength(1);
    expect(await site.refs()).toEqual([]);
  });

  test("a host that is away changes nothing, also not after a start, while the others are read", async () => {
    const docker = startLabelledDocker(WEB);
    using other = startLabelledDocker(named("db", { url: "tcp://db.example.com:5432" }));
    await using site = await startLabelSite({ local: docker.path, nas: other.path });
    await site.read();
    docker[Symbol.dispose]();
    other.containers = [];
    const detail = "There is no socket at the path of the Docker host.";
    expect(await site.read()).toMatchObject({ silent: [{ host: "local", detail }] });
    expect((await site.monitor("web")).paused).toBe(false);
    expect((await site.monitor("db")).paused).toBe(true);
    site.labels.cancel();
    await using again = {
      labels: startDockerLabels(site.ctx, createEgress(site.ctx)),
      async [Symbol.asyncDispose]() {
        this.labels.cancel();
      },
    };
    await site.clock.advance(2_000);
    while (again.labels.report().readAt === undefined) await Bun.sleep(1);
    expect(again.labels.report().silent).toEqual([{ host: "local", detail }]);
    expect((await site.monitor("web")).paused).toBe(false);
  });

  test("a node that is not the primary reads no labels", async () => {
    using docker = startLabelledDocker(WEB);
    await using site = await startLabelSite({ local: docker.path });
    const { isPrimary } = site.ctx;
    site.ctx.isPrimary = () => false;
    await site.clock.advance(2_000);
    expect(docker.requests).toEqual([]);
    site.ctx.isPrimary = isPrimary;
    await site.clock.advance(13_000);
    await site.read();
    expect(await site.refs()).toEqual(["web"]);
  });

  test("nothing is read after the end", async () => {
    using docker = startLabelledDocker(WEB);
    await using site = await startLabelSite({ local: docker.path });
    await site.read();
    site.labels.cancel();
    await site.clock.advance(60_000);
    expect(docker.requests).toHaveLength(1);
  });
});

describe("labels that are not applied", () => {
  /** Reads the labels of one container, and returns the problems. */
  async function problemsOf(labels: Record<string, string>): Promise<string[]> {
    using docker = startLabelledDocker({ name: "web", labels });
    await using site = await startLabelSite({ local: docker.path });
    await site.read();
    expect(await site.refs()).toEqual([]);
    return site.problems();
  }

  const wrong: [label: string, value: string, detail: string][] = [
    [
      "allclear.monitor",
      "web.example.com",
      "allclear.monitor must be an address such as https://example.com/health.",
    ],
    [
      "allclear.monitor.web.type",
      "docker",
      "allclear.monitor.web.type must be one of http, tcp, tls, ping, push.",
    ],
    [
      "allclear.monitor.web.type",
      "ftp",
      "allclear.monitor.web.type must be one of http, tcp, tls, ping, push.",
    ],
    ["allclear.monitor.web.url", "tcp://db.example.com", "allclear.monitor.web.port is required."],
    [
      "allclear.monitor.web.colour",
      "red",
      "allclear.monitor.web.colour is not a field of monitors of the type http.",
    ],
    [
      "allclear.monitor.web.__proto__",
      "{}",
      "allclear.monitor.web.__proto__ is not a field of monitors of the type http.",
    ],
    [
      "allclear.monitor.web.constructor",
      "red",
      "allclear.monitor.web.constructor is not a field of monitors of the type http.",
    ],
    [
      "allclear.monitor.web.ref",
      "other",
      "allclear.monitor.web.ref is not a field of monitors of the type http.",
    ],
    [
      "allclear.monitor.web.config",
      "{}",
      "allclear.monitor.web.config is not a field of monitors of the type http.",
    ],
    [
      "allclear.monitor.web.a.b",
      "x",
      "allclear.monitor.web.a.b is not of the form allclear.monitor.NAME.FIELD.",
    ],
    [
      "allclear.monitor.-.url",
      "https://example.com",
      "allclear.monitor.-.url must have a letter or a digit in the name of the monitor.",
    ],
    [
      "allclear.monitor.web.url",
      "x".repeat(4_001),
      "allclear.monitor.web.url has more than 4,000 characters.",
    ],
  ];
  for (const [label, value, detail] of wrong) {
    test(`a wrong label is named: ${label} = ${value.slice(0, 30)}`, async () => {
      expect(await problemsOf({ [label]: value })).toContain(detail);
    });
  }

  test("an empty label declares nothing, since a container rids itself so of a label of its image", async () => {
    expect(await problemsOf({ "allclear.monitor": "", "kuma.web.http.url": "" })).toEqual([]);
  });

  test("a label with a name in place of a field says how a monitor of that name is declared", async () => {
    expect(await problemsOf({ "allclear.monitor.shop": "https://shop.example.com" })).toEqual([
      "allclear.monitor.shop is not a field of monitors of the type http. A monitor with this name is declared by allclear.monitor.shop.url.",
    ]);
  });

  test("values of wrong types are rejected as in a configuration file", async () => {
    const prefix = "allclear.monitor.web";
    const labels = {
      url: "https://example.com",
      interval: "soon",
      follow_redirects: "maybe",
      component: "acme",
    };
    const entries = Object.entries(labels).map(([field, value]) => [`${prefix}.${field}`, value]);
    expect(await problemsOf(Object.fromEntries(entries))).toEqual([
      `${prefix}.follow_redirects must be true or false.`,
      `${prefix}.interval must be a whole number from 5 to 86,400.`,
    ]);
  });

  test("a wrong label stops no other monitor, and is logged once", async () => {
    using docker = startLabelledDocker(WEB, named("bad", { url: "nonsense" }));
    await using site = await startLabelSite({ local: docker.path });
    await site.read(3);
    expect(await site.refs()).toEqual(["web"]);
    const warnings = site.logged.filter(
      ({ msg }) => msg === "labels of containers are not applied",
    );
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({ host: "local", container: "bad" });
  });

  test("a secret in a label is refused, and nothing repeats it", async () => {
    const secret = "hunter2-hunter2";
    const tries: Record<string, string> = {
      headers: `{"Authorization":"${secret}"}`,
      body: secret,
      proxy: `{"url":"http://proxy.example.com:3128","username":"a","password":"${secret}"}`,
      digest: `{"username":"a","password":"${secret}"}`,
      oauth2: `{"token_url":"https://a.example.com","client_id":"a","client_secret":"${secret}"}`,
      client_certificate: `{"certificate":"${secret}","key":"${secret}"}`,
    };
    for (const [field, value] of Object.entries(tries)) {
      const url = "https://example.com";
      using docker = startLabelledDocker(named("shop", { url, [field]: value }));
      await using site = await startLabelSite({ local: docker.path });
      await site.read();
      expect(site.problems(), field).toContain(
        `allclear.monitor.shop.${field} is a secret, and everybody who may use Docker can read labels. Set it in the dashboard, where it stays.`,
      );
      expect(await site.refs()).toEqual([]);
      const written = JSON.stringify([site.logged, site.audit(), site.labels.report()]);
      expect(written).not.toContain(secret);
    }
    using docker = startLabelledDocker(named("shop", { url: `https://a:${secret}@example.com` }));
    await using site = await startLabelSite({ local: docker.path });
    await site.read();
    expect(await site.refs()).toEqual([]);
    expect(site.problems()).toHaveLength(1);
    expect(JSON.stringify([site.logged, site.labels.report()])).not.toContain(secret);
  });

  test("a secret that somebody sets in the dashboard stays, but does not go to another server", async () => {
    using docker = startLabelledDocker(named("shop", { url: "https://a.example.com" }));
    await using site = await startLabelSite({ local: docker.path });
    const key = await site.keyWith("manage:monitors");
    await site.read();
    const json = { config: { headers: { authorization: "Bearer x" } } };
    await site.call("/api/v1/monitors/shop", { key, method: "PATCH", json });
    docker.containers = [named("shop", { url: "https://a.example.com", interval: "20" })];
    await site.read(2);
    expect(await site.monitor("shop")).toMatchObject({
      interval_seconds: 20,
      config: { url: "https://a.example.com", header_names: ["authorization"] },
    });
    docker.containers = [named("shop", { url: "https://b.example.com" })];
    await site.read(2);
    expect(await site.monitor("shop")).toMatchObject({ config: { url: "https://a.example.com" } });
    expect(site.problems()).toEqual([
      "allclear.monitor.shop: config.headers is a secret for another server or request: enter it again, or remove it.",
    ]);
  });

  test("a monitor of somebody else is never changed, and its ref is free once it is deleted", async () => {
    using docker = startLabelledDocker(WEB);
    await using site = await startLabelSite({ local: docker.path });
    const key = await site.keyWith("manage:monitors");
    const json = { name: "Web", type: "tcp", config: { host: "own.example.com", port: 80 } };
    await site.call("/api/v1/monitors", { key, method: "POST", json });
    await site.read(2);
    expect(site.problems()).toEqual([
      "allclear.monitor: Another monitor has the ref web. Give one of them another name.",
    ]);
    expect(await site.monitor("web")).toMatchObject({ type: "tcp", version: 1 });
    docker.containers = [];
    await site.read();
    expect((await site.monitor("web")).paused).toBe(false);
    docker.containers = [WEB];
    await site.call("/api/v1/monitors/web", { key, method: "DELETE" });
    await site.read();
    expect(await site.monitor("web")).toMatchObject({ type: "http" });
    expect(site.problems()).toEqual([]);
  });

  test("a label that names a missing component is applied once there is one", async () => {
    using docker = startLabelledDocker(
      named("shop", { url: "https://shop.example.com", component: "acme/checkout" }),
    );
    await using site = await startLabelSite({ local: docker.path });
    await site.read();
    expect(site.problems()).toEqual([
      "allclear.monitor.shop: components[0] is not a component: acme/checkout. Use the page's slug and the ref, such as acme/api.",
    ]);
    expect(await site.refs()).toEqual([]);
    await site.page({ name: "Acme", slug: "acme" }, ["Checkout"]);
    await site.read();
    expect(site.problems()).toEqual([]);
    expect(await site.refs()).toEqual(["shop"]);
  });

  test("containers without labels for monitors, and with names of another kind, are no problem", async () => {
    using docker = startLabelledDocker({ name: "other", labels: { "allclear.monitoring": "x" } });
    await using site = await startLabelSite({ local: docker.path });
    docker.answer = Response.json([
      { Id: "5f" },
      { Names: "x", Id: "5f", Labels: { "allclear.monitor": 7 } },
      { Names: null, Id: "5f", Labels: null },
      {
        Names: [null],
        Id: "5f",
        State: {},
        Created: "x",
        Labels: { "allclear.monitor": "https://a.example.com" },
      },
    ]);
    expect(await site.read()).toMatchObject({ silent: [], problems: [] });
    expect(await site.refs()).toEqual([]);
  });
});
