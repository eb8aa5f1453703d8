import { describe, expect, test } from "bun:test";
import { alertmanagerBody, type AlertSite, openAlertSite } from "../../../support/alert-reports";
import { fieldErrorsOn, readHtml } from "../../../support/html";
import { formOf, NEW_MONITOR } from "../../../support/monitor-dashboard";

const HOSTILE = {
  labels: { alertname: "<script>alert(1)</script>", service: "checkout" },
  annotations: { summary: "<img src=x onerror=alert(2)> fails" },
};

/** Opens and sends pages of the dashboard as a user with a role. */
async function as(site: AlertSite, role: "admin" | "editor" | "viewer") {
  const session = await site.app.signedIn(role);
  return {
    open: (path: string) => site.app.call(path, { session }),
    async confirm(path: string) {
      expect((await site.app.call(path, { session })).text).toContain('method="post"');
      return site.app.call(path, { method: "POST", session, form: {} });
    },
    post: (path: string, form: Record<string, string>) =>
      site.app.call(path, { method: "POST", session, form }),
  };
}

/** Returns the content of a form as a browser would send it. */
function filled(html: string): Record<string, string> {
  const decoded = (text = "") =>
    text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&");
  return Object.fromEntries(
    Object.entries(formOf(html)).map(([name, values]) => [name, decoded([values].flat()[0])]),
  );
}

describe("the form of an alert monitor", () => {
  test("it asks for sender and matchers, and shows the address once", async () => {
    await using site = await openAlertSite();
    const { open, post } = await as(site, "admin");
    const json = { type: "push", name: "Alertmanager", config: {} };
    await site.app.call("/api/v1/monitors", { method: "POST", key: site.key, json });
    const { text } = await open(`${NEW_MONITOR}?type=alert`);
    for (const name of ["interval_seconds", "failure_threshold", "timeout_ms", "inverted"]) {
      expect(text).not.toContain(`name="${name}"`);
    }
    const form = {
      ...filled(text),
      name: "Checkout",
      config_match: 'service="checkout"\r\n\r\nseverity=~"critical|page"\r\n',
      config_watchdog: "alertmanager",
    };
    const offered = readHtml(text).attributes("#field-config_watchdog-list option", "value");
    expect(offered).toEqual(["alertmanager"]);
    const wrong = await post(NEW_MONITOR, { ...form, config_match: 'a="b"\nnothing' });
    expect(wrong.status).toBe(422);
    expect(fieldErrorsOn(wrong.text)["config_match"]).toStartWith("Line 2 must be a label");
    const made = await post(NEW_MONITOR, form);
    expect(made.status).toBe(200);
    expect(made.text).toContain("https://status.test/api/v1/heartbeats/");
    const [monitor] = (await site.app.call("/api/v1/monitors", { key: site.key })).body.data;
    expect(monitor).toMatchObject({
      type: "alert",
      interval_seconds: null,
      config: {
        format: "alertmanager",
        match: ['service="checkout"', 'severity=~"critical|page"'],
        degraded: [],
        watchdog: "alertmanager",
      },
    });
    const edit = `/admin/monitors/${monitor.id}/edit`;
    const stored = filled((await open(edit)).text);
    const same = await post(edit, stored);
    expect(same.status).toBe(303);
    const after = (await site.app.call(`/api/v1/monitors/${monitor.id}`, { key: site.key })).body;
    expect(after.version).toBe(monitor.version);
  });

  test("a link fills in the mapping of a sender, which is saved as it is; other text is refused", async () => {
    await using site = await openAlertSite();
    const { open, post } = await as(site, "admin");
    for (const preset of ["uptime-kuma", "gatus", "datadog"]) {
      const form = filled((await open(`${NEW_MONITOR}?type=alert&preset=${preset}`)).text);
      expect(form).toMatchObject({ config_format: "json" });
      expect((await post(NEW_MONITOR, { ...form, config_mapping: "$.id" })).status).toBe(422);
      const again = filled((await open(`${NEW_MONITOR}?type=alert&preset=${preset}`)).text);
      expect((await post(NEW_MONITOR, again)).status).toBe(200);
    }
    expect((await open(`${NEW_MONITOR}?type=alert&preset=constructor`)).status).toBe(200);
  });
});

describe("open alerts", () => {
  test("the screen of a monitor shows them as text, and editors end one or all, which is audited", async () => {
    await using site = await openAlertSite();
    const { id } = await site.monitor();
    const second = { labels: { alertname: "Second" } };
    await site.report(alertmanagerBody(HOSTILE, second));
    const editor = await as(site, "editor");
    const viewer = await as(site, "viewer");
    const path = `/admin/monitors/${id}`;
    const { text } = await editor.open(path);
    expect(text).not.toContain("<script>alert(1)");
    expect(text).not.toContain("<img src=x");
    expect(readHtml(text).texts("#monitor-alerts").join(" ")).toContain("onerror=alert(2)> fails");
    const seen = (await viewer.open(path)).text;
    expect(seen).toContain("onerror=alert(2)");
    expect(seen).not.toContain("Nothing is firing");
    const [, one = ""] = /href="([^"]*\/end-alerts\/[0-9a-f]{16})"/.exec(text) ?? [];
    expect((await viewer.post(one, {})).status).toBe(403);
    expect((await editor.confirm(one)).status).toBe(303);
    expect(site.open(id)).toHaveLength(1);
    expect(site.state(id)).toBe("down");
    // It has ended meanwhile.
    expect((await editor.open(one)).status).toBe(303);
    expect((await editor.confirm(`${path}/end-alerts/all`)).status).toBe(303);
    await site.clock.advance(1_000);
    expect(site.state(id)).toBe("up");
    const audited = site.app.audit().filter(({ action }) => action === "monitor.end_alerts");
    expect(audited.map(({ summary }) => summary)).toEqual([
      "Ended 1 open alert of the monitor “Checkout alerts”",
      "Ended 1 open alert of the monitor “Checkout alerts”",
    ]);
    // A report opens it again.
    await site.report(alertmanagerBody(second));
    expect(site.state(id)).toBe("down");
  });
});

test("a monitor that is degraded by an alert is called degraded, and not slow", async () => {
  await using site = await openAlertSite();
  const { id } = await site.monitor({ match: ['severity="critical"'], degraded: [] });
  await site.app.call(`/api/v1/monitors/${id}`, {
    method: "PATCH",
    key: site.key,
    json: { config: { degraded: ['severity="warning"'] } },
  });
  await site.clock.advance(1_000);
  await site.report(alertmanagerBody({ labels: { alertname: "Late", severity: "warning" } }));
  expect(site.state(id)).toBe("degraded");
  const viewer = await as(site, "viewer");
  const ranges = readHtml((await viewer.open(`/admin/monitors/${id}`)).text);
  expect(ranges.attributes("#monitor-outages .detail-head a", "href").length).toBeGreaterThan(2);
  for (const path of ["/admin", "/admin/monitors", `/admin/monitors/${id}`]) {
    const { text } = await viewer.open(path);
    const words = readHtml(text).texts("main").join(" ");
    expect(words).toMatch(/degraded/i);
    expect(words).not.toMatch(/\bslow/i);
  }
});

describe("alerts that matched nothing", () => {
  test("the list links to them, and a new monitor is filled in from one and takes it", async () => {
    await using site = await openAlertSite();
    await site.monitor({ match: ['service="other"'] });
    const { open, post } = await as(site, "admin");
    expect((await open("/admin/monitors")).text).not.toContain("/admin/monitors/alerts");
    expect((await open("/admin/monitors/alerts")).text).toContain("no monitor matches");
    const alert = { labels: { alertname: "Errors", service: "checkout", pod: "web-1" } };
    await site.report(alertmanagerBody(alert, HOSTILE));
    expect((await open("/admin/monitors")).text).toContain("/admin/monitors/alerts");
    const { text } = await open("/admin/monitors/alerts");
    expect(text).not.toContain("<script>alert(1)");
    const links = [...text.matchAll(/href="(\/admin\/monitors\/new\?[^"]*)"/g)].map(([, href]) =>
      (href ?? "").replaceAll("&amp;", "&"),
    );
    expect(links).toHaveLength(2);
    const link = links.find((each) => each.includes("name=Errors")) ?? "";
    const form = filled((await open(link)).text);
    expect(form).toMatchObject({
      name: "Errors",
      config_format: "alertmanager",
      config_match: 'alertname="Errors"\nservice="checkout"',
    });
    expect((await post(NEW_MONITOR, form)).status).toBe(200);
    expect((await site.report(alertmanagerBody(alert))).body.matched).toBe(1);
    const viewer = await as(site, "viewer");
    expect((await viewer.open("/admin/monitors/alerts")).text).not.toContain("New monitor");
  });
});
