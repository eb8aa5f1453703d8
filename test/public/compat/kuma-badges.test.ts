import { describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../../src/base/time";
import { setCertificateExpiry } from "../../support/certificate-expiry";
import { createCompatSite, type CompatSite } from "../../support/compat-site";

/** Returns the title, fills and status of a badge. */
async function badge(site: CompatSite, path: string) {
  const { status, text, headers, body } = await site.app.call(`/api/badge/${path}`);
  if (status !== 200) return { status, body };
  expect(headers.get("content-type")).toStartWith("image/svg+xml");
  expect(headers.get("content-security-policy")).toBe("default-src 'none'");
  const [, title] = /<title>(.*?)<\/title>/.exec(text) ?? [];
  const fills = [...text.matchAll(/<rect[^>]* fill="([^"]+)"/g)].map(([, fill]) => fill);
  return { title, fills, text };
}

/** Creates a page whose component API has a monitor, and returns its number. */
async function withMonitor() {
  const site = await createCompatSite();
  await site.showLatency("API");
  const { id } = await site.create({ component_ids: [site.components["API"]] });
  const { body } = await site.app.call("/api/status-page/acme");
  const [first, second] = body.publicGroupList[0].monitorList;
  return { site, id, number: first.id as number, other: second.id as number };
}

async function setStatus(site: CompatSite, status: string): Promise<void> {
  const key = await site.app.keyWith("write:components");
  const path = `/api/v1/components/${site.components["API"]}`;
  await site.app.call(path, { method: "PATCH", key, json: { status } });
}

describe("Uptime Kuma's badge of a component's status", () => {
  test("each status has its word and colour, which parameters replace", async () => {
    const { site, id, number } = await withMonitor();
    await using _ = site;
    const at = `${number}/status`;
    expect(await badge(site, at)).toMatchObject({
      title: "Status: Up",
      fills: ["#555", "#66c20a"],
    });
    await site.answered(id, [5, null]);
    expect(await badge(site, at)).toMatchObject({
      title: "Status: Pending",
      fills: ["#555", "#f8a306"],
    });
    await setStatus(site, "major_outage");
    expect(await badge(site, at)).toMatchObject({
      title: "Status: Down",
      fills: ["#555", "#c2290a"],
    });
    expect(
      await badge(site, `${at}?label=Shop&downLabel=Off&downColor=a0b1C2&upColor=blue`),
    ).toMatchObject({ title: "Shop: Off", fills: ["#555", "#a0b1c2"] });
    await setStatus(site, "under_maintenance");
    expect(await badge(site, at)).toMatchObject({
      title: "Status: Maintenance",
      fills: ["#555", "#1747f5"],
    });
  });

  test.each(["999999999", "1", "-5", "9".repeat(400)])(
    "the number %s is not known and gets N/A in grey",
    async (number) => {
      const { site } = await withMonitor();
      await using _ = site;
      for (const name of ["status", "uptime", "ping", "avg-response", "response", "cert-exp"]) {
        const answer = await badge(site, `${number}/${name}`);
        expect(answer).toMatchObject({ title: "N/A", fills: ["#555", "#999"] });
      }
    },
  );

  test("a number that is no number is rejected, and one followed by letters is read as in Uptime Kuma", async () => {
    const { site, number } = await withMonitor();
    await using _ = site;
    expect(await badge(site, "x/status")).toEqual({
      status: 403,
      body: { status: "fail", msg: "Invalid monitor ID" },
    });
    expect(await badge(site, `${number}x/status`)).toMatchObject({ title: "Status: Up" });
  });
});

describe("Uptime Kuma's badges with figures", () => {
  test("the uptime has four significant digits, a colour by its value, and the unit h", async () => {
    const { site, number } = await withMonitor();
    await using _ = site;
    expect((await badge(site, `${number}/uptime`)).title).toBe("N/A");
    await site.app.clock.advance(HOUR_MS);
    expect(await badge(site, `${number}/uptime`)).toMatchObject({
      title: "Uptime (24h): 100.0%",
      fills: ["#555", "#66c20a"],
    });
    await setStatus(site, "major_outage");
    await site.app.clock.advance(HOUR_MS / 2);
    expect(await badge(site, `${number}/uptime/30d`)).toMatchObject({
      title: "Uptime (30h): 66.67%",
    });
    const changed = `${number}/uptime/12?labelPrefix=a&labelSuffix=b&prefix=c&suffix=d&color=teal&labelColor=123`;
    expect(await badge(site, changed)).toMatchObject({
      title: "aUptime (12b): c66.67d",
      fills: ["#123", "teal"],
    });
  });

  test.each([
    ["1441m", "The maximum number of minutes is 1440"],
    ["721", "The maximum number of hours is 720"],
    ["366d", "The maximum number of days is 365"],
    ["13M", "The maximum number of days is 365"],
    ["2y", "The maximum number of days is 365"],
    ["1x", "Unsupported unit (x) for badge duration 1x"],
    ["h", "Invalid duration: h"],
  ])("the duration %s is rejected", async (duration, msg) => {
    const { site, number } = await withMonitor();
    await using _ = site;
    for (const name of ["uptime", "ping"]) {
      expect(await badge(site, `${number}/${name}/${duration}`)).toEqual({
        status: 403,
        body: { status: "fail", msg },
      });
    }
  });

  test("response times are shown as mean and as last result, where the page shows them", async () => {
    const { site, id, number, other } = await withMonitor();
    await using _ = site;
    await site.app.clock.advance(HOUR_MS);
    await site.answered(id, [100, null, 51]);
    await site.app.clock.advance(1_000);
    expect(await badge(site, `${number}/ping`)).toMatchObject({
      title: "Avg. Ping (24h): 75ms",
      fills: ["#555", "#007ec6"],
    });
    expect((await badge(site, `${number}/ping/1w`)).title).toBe("Avg. Ping (1h): 75ms");
    expect((await badge(site, `${number}/avg-response`)).title).toBe("Avg. Response (24h): 75ms");
    expect((await badge(site, `${number}/avg-response/900`)).title).toBe(
      "Avg. Response (720h): 75ms",
    );
    expect((await badge(site, `${number}/avg-response/x`)).title).toBe("N/A");
    expect((await badge(site, `${number}/response`)).title).toBe("Response: 51ms");
    for (const name of ["ping", "avg-response", "response"]) {
      expect((await badge(site, `${other}/${name}`)).title).toBe("N/A");
    }
  });

  test("the days of a certificate have colours by the days at which to warn", async () => {
    const { site, id, number } = await withMonitor();
    await using _ = site;
    const at = `${number}/cert-exp`;
    const expiring = (days: number) =>
      setCertificateExpiry(site.app, id, site.app.clock.now() + days * 24 * HOUR_MS);
    expect((await badge(site, at)).title).toBe("No/Bad Cert");
    await expiring(60);
    expect(await badge(site, at)).toMatchObject({
      title: "Cert Exp.: 60 days",
      fills: ["#555", "#66c20a"],
    });
    expect(await badge(site, `${at}?warnDays=90`)).toMatchObject({ fills: ["#555", "#eed202"] });
    expect(await badge(site, `${at}?warnDays=90&downDays=70`)).toMatchObject({
      fills: ["#555", "#c2290a"],
    });
    expect((await badge(site, `${at}?date=1`)).title).toBe("Cert Exp.: 2026-05-09T12:00:00.000Z");
    await expiring(-1);
    expect(await badge(site, at)).toMatchObject({ title: "Bad Cert", fills: ["#555", "#c2290a"] });
  });
});

test("the end of a domain's registration is not shown as that of a certificate", async () => {
  await using site = await createCompatSite();
  const { id } = await site.create({
    type: "domain",
    name: "Domain",
    config: { domain: "example.com" },
    component_ids: [site.components["API"]],
  });
  await setCertificateExpiry(site.app, id, site.app.clock.now() + 24 * HOUR_MS);
  const { body } = await site.app.call("/api/status-page/acme");
  const { id: number } = body.publicGroupList[0].monitorList[0];
  expect((await badge(site, `${number}/cert-exp`)).title).toBe("No/Bad Cert");
});

test.each([
  ["private", { visibility: "private" }],
  ["not for clients of Uptime Kuma", { compat: ["gatus"] }],
] as const)("badges show nothing of a page that is %s", async (_name, input) => {
  const { site, id, number, other } = await withMonitor();
  await using _ = site;
  await site.app.clock.advance(HOUR_MS);
  await site.answered(id, [100]);
  await setCertificateExpiry(site.app, id, site.app.clock.now() + 24 * HOUR_MS);
  await site.change("compat" in input ? { compat: [...input.compat] } : input);
  // All numbers that are given so far: of the monitor and of the components.
  expect([number, other].every((one) => one >= 1_000_000 && one <= 1_000_003)).toBe(true);
  for (const one of [1_000_000, 1_000_001, 1_000_002, 1_000_003]) {
    for (const name of ["status", "uptime", "ping", "avg-response", "response", "cert-exp"]) {
      const answer = await badge(site, `${one}/${name}`);
      expect(answer).toMatchObject({ title: "N/A", fills: ["#555", "#999"] });
    }
  }
});

describe("Uptime Kuma's badge of a page", () => {
  test("the badge of a page tells if all, some or none of its components are up", async () => {
    await using site = await createCompatSite();
    const key = await site.app.keyWith("write:components");
    const set = async (...statuses: string[]) => {
      const components = Object.fromEntries(
        Object.values(site.components).map((id, index) => [id, statuses[index]]),
      );
      await site.app.call("/api/v1/components", { method: "PATCH", key, json: { components } });
      const { text } = await site.app.call("/api/status-page/acme/badge?label=x&style=plastic");
      return /<title>(.*?)<\/title>/.exec(text)?.[1];
    };
    expect(await set("operational", "degraded_performance")).toBe("x: Up");
    expect(await set("operational", "partial_outage")).toBe("x: Degraded");
    expect(await set("major_outage", "partial_outage")).toBe("x: Down");
    expect(await set("major_outage", "under_maintenance")).toBe("x: Maintenance");
  });
});

describe("parameters of Uptime Kuma's badges", () => {
  test("texts are cut to 100 characters and escaped", async () => {
    const { site, number } = await withMonitor();
    await using _ = site;
    const hostile = encodeURIComponent(`</title><script>"'&]]>\u0000${"x".repeat(200)}`);
    const { text = "" } = await badge(site, `${number}/status?label=${hostile}&upLabel=${hostile}`);
    expect(text).not.toContain("<script");
    expect(text).not.toContain("]]>");
    expect(text).not.toContain("\u0000");
    expect(text.match(/x{70,}/g)?.every((run) => run.length < 100)).toBe(true);
  });

  test.each(['red" onload="x', "url(#a)", "#12", "javascript:x", "currentcolor", "var(--a)"])(
    "%s is no colour, so the default is used",
    async (colour) => {
      const { site, number } = await withMonitor();
      await using _ = site;
      const path = `${number}/status?upColor=${encodeURIComponent(colour)}`;
      expect(await badge(site, path)).toMatchObject({ fills: ["#555", "#66c20a"] });
    },
  );

  test("the four styles have different drawings, and an unknown style and value are ignored", async () => {
    const { site, number } = await withMonitor();
    await using _ = site;
    const drawn = async (query: string) => (await badge(site, `${number}/status?${query}`)).text;
    const styles = ["flat", "flat-square", "plastic", "for-the-badge"];
    const texts = await Promise.all(styles.map((style) => drawn(`style=${style}`)));
    expect(new Set(texts).size).toBe(4);
    expect(texts[3]).toContain("STATUS");
    expect(await drawn("style=social&value=0")).toBe(texts[0] ?? "");
  });
});
