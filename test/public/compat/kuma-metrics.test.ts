import { describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { mutate } from "../../../src/db/statements";
import { monitorStates } from "../../../src/db/tables/monitors";
import type { MonitorState } from "../../../src/base/status";
import { recordState } from "../../../src/features/monitors/engine/transitions";
import { findMonitor } from "../../../src/features/monitors/store";
import { HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { expectProblem } from "../../support/app";
import { setCertificateExpiry } from "../../support/certificate-expiry";
import { createCompatSite, type CompatSite } from "../../support/compat-site";

const PATH = "/compat/kuma/metrics";

/** Returns the lines of the metrics that begin with a name. */
async function linesOf(site: CompatSite, name: string): Promise<string[]> {
  const { text } = await site.app.call(PATH, { key: await site.app.keyWith("read:analytics") });
  return text.split("\n").filter((line) => line.startsWith(name));
}

const setState = mutate((orm, $: { num: number; state: MonitorState }) =>
  orm.update(monitorStates).set({ state: $.state }).where(eq(monitorStates.monitorNum, $.num)),
);

const basic = (text: string) => ({ authorization: `Basic ${btoa(text)}` });

describe("who may read Uptime Kuma's metrics", () => {
  test("a key is accepted as bearer and as the password of any user", async () => {
    await using site = await createCompatSite();
    const key = await site.app.keyWith("read:analytics");
    for (const headers of [
      { authorization: `Bearer ${key}` },
      basic(`:${key}`),
      basic(`anyone:${key}`),
      { authorization: `basic ${btoa(`x:${key}`)}` },
    ]) {
      const answer = await site.app.call(PATH, { headers });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
  });

  test.each([
    ["nothing", {}, "missing_key"],
    ["another password", basic("x:wrong"), "invalid_key"],
    ["no password", basic("x:"), "missing_key"],
    ["no colon", basic("x"), "missing_key"],
    ["another bearer", { authorization: "Bearer wrong" }, "invalid_key"],
  ] as const)("%s is rejected with a challenge for Basic", async (_, headers, code) => {
    await using site = await createCompatSite();
    const answer = await site.app.call(PATH, { headers });
    expectProblem(answer, code);
    expect(answer.headers.get("www-authenticate")).toStartWith("Basic realm=");
  });

  test("a key of another scope is rejected, and other paths take no Basic", async () => {
    await using site = await createCompatSite();
    const wrong = await site.app.keyWith("read:status");
    expectProblem(
      await site.app.call(PATH, { headers: basic(`x:${wrong}`) }),
      "insufficient_scope",
    );
    const key = await site.app.keyWith("read:analytics");
    const answer = await site.app.call("/metrics", { headers: basic(`x:${key}`) });
    expectProblem(answer, "missing_key");
    expect(answer.headers.get("www-authenticate")).toStartWith("Bearer");
  });
});

describe("Uptime Kuma's metrics", () => {
  test("a monitor has its labels, without the path of its address, and tags that overwrite none", async () => {
    await using site = await createCompatSite();
    await site.create({
      name: 'Shop "A"\\',
      config: { url: "https://shop.example:8443/health?token=secret" },
      tags: ["team:ops-1", "team:dev", "9 prod!", "monitor_id:7", "window:x", "__name__", "ä"],
    });
    await site.create({ type: "tcp", name: "Mail", config: { host: "mail.example", port: 25 } });
    const [mail, shop] = await linesOf(site, "monitor_status{");
    expect(shop).toBe(
      'monitor_status{team="dev,ops1",prod="",monitor_id="1000002",monitor_name="Shop \\"A\\"\\\\",monitor_type="http",monitor_url="https://shop.example:8443",monitor_hostname="null",monitor_port="null"} 2',
    );
    expect(mail).toContain(
      'monitor_type="port",monitor_url="null",monitor_hostname="mail.example",monitor_port="25"',
    );
    expect((await linesOf(site, "")).join("\n")).not.toContain("secret");
  });

  test("a name that is resolved is a host name, and the name of a Docker host is none", async () => {
    await using site = await createCompatSite(undefined, {
      ALLCLEAR_DOCKER_HOSTS: "nas=unix:///docker.sock",
    });
    await site.create({ type: "dns", name: "DNS", config: { name: "shop.example" } });
    const config = { host: "nas", container: "web" };
    await site.create({ type: "docker", name: "Web", config });
    const [docker, dns] = await linesOf(site, "monitor_status{");
    expect(dns).toContain('monitor_hostname="shop.example",monitor_port="null"');
    expect(docker).toContain('monitor_hostname="null",monitor_port="null"');
  });

  test("a monitor that is up and whose last result is a failure is pending", async () => {
    await using site = await createCompatSite();
    const { id } = await site.create();
    const { num = 0 } = findMonitor(site.app.ctx.db, { id }) ?? {};
    await site.app.ctx.db.write((tx) => setState(tx, { num, state: "up" }));
    await site.answered(id, [100, null]);
    expect((await linesOf(site, "monitor_status{"))[0]).toEndWith("} 2");
    await site.app.clock.advance(2 * MINUTE_MS);
    await site.answered(id, [100]);
    expect((await linesOf(site, "monitor_status{"))[0]).toEndWith("} 1");
  });

  test("states are Uptime Kuma's numbers, and paused monitors are left out", async () => {
    await using site = await createCompatSite();
    const { id } = await site.create();
    const { num = 0 } = findMonitor(site.app.ctx.db, { id }) ?? {};
    const statusOf = async () => (await linesOf(site, "monitor_status{"))[0]?.split("} ")[1];
    for (const [state, expected] of [
      ["up", "1"],
      ["degraded", "1"],
      ["down", "0"],
      ["maintenance", "3"],
    ] as const) {
      await site.app.clock.advance(1_000);
      const at = site.app.clock.now();
      await site.app.ctx.db.write((tx) => {
        recordState(tx, { monitorNum: num, state, at, message: null });
        setState(tx, { num, state });
      });
      expect(await statusOf()).toBe(expected);
    }
    await site.call(`/${id}/pause`, { method: "POST" });
    expect(await statusOf()).toBeUndefined();
  });

  test("response times, uptime and certificate have their families", async () => {
    await using site = await createCompatSite();
    const { id } = await site.create();
    expect((await linesOf(site, "monitor_response_time{"))[0]).toEndWith("} -1");
    expect(await linesOf(site, "monitor_uptime_ratio{")).toEqual([]);
    await site.app.clock.advance(HOUR_MS);
    await site.answered(id, [100, 50]);
    await setCertificateExpiry(site.app, id, site.app.clock.now() + 48 * HOUR_MS);
    await site.app.clock.advance(1_000);
    expect((await linesOf(site, "monitor_response_time{"))[0]).toEndWith("} 50");
    const means = await linesOf(site, "monitor_response_time_seconds{");
    expect(means.map((line) => /window="(\w+)"\} (.*)/.exec(line)?.slice(1))).toEqual([
      ["1d", "0.075"],
      ["30d", "0.075"],
      ["365d", "0.075"],
    ]);
    expect((await linesOf(site, "monitor_cert_days_remaining{"))[0]).toEndWith("} 2");
    expect((await linesOf(site, "monitor_cert_is_valid{"))[0]).toEndWith("} 1");
    expect(await linesOf(site, "app_version{")).toEqual([
      'app_version{version="2.5.3",major="2",minor="5",patch="3"} 1',
    ]);
  });
});
