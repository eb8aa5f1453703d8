import { describe, expect, test } from "bun:test";
import { SUPPORTED_TYPES } from "../../../../src/base/status";
import { listAllWebhooks } from "../../../../src/features/webhooks/store";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import {
  createMonitorDashboard,
  formOf,
  type MonitorDashboard,
  monitorIdIn,
  MONITORS,
  NEW_MONITOR,
  revealedToken,
} from "../../../support/monitor-dashboard";

const SLACK = "https://hooks.slack.com/services/T0/B0/s3cr3t";

const rowsOf = ({ app }: MonitorDashboard) => listAllWebhooks(app.ctx.db, {});

/** Returns the names of the controls that are shown before the further options. */
function askedOn(html: string): string[] {
  const all = readHtml(html);
  const folded = new Set(all.attributes(".options-fold [name]", "name"));
  const names = all.attributes(
    "main form input:not([type=hidden]), main form select, main form textarea",
    "name",
  );
  return [...new Set(names)].filter((name) => !folded.has(name));
}

describe("the fields of a new monitor", () => {
  test("the form asks for name, URL, component, interval and endpoints, and folds everything else", async () => {
    await using dashboard = await createMonitorDashboard();
    const { text } = await dashboard.open(NEW_MONITOR);
    expect(askedOn(text)).toEqual([
      "name",
      "config_url",
      "component_ids",
      "interval_seconds",
      "interval_seconds_other",
      "endpoint_format",
      "endpoint_url",
    ]);
    expect(readHtml(text).texts(".options-fold > summary small")).toEqual([
      "10 s timeout · down after 3 failures, up after 1 · then partial outage, no incident · expects status 200–299",
    ]);
    expect(readHtml(text).texts(".options-fold[open]")).toEqual([]);
  });

  test("the form that edits a monitor of any type is folded while it has the defaults", async () => {
    await using dashboard = await createMonitorDashboard();
    for (const type of SUPPORTED_TYPES.filter((each) => each !== "ping")) {
      const { text } = await dashboard.open(`${NEW_MONITOR}?type=${type}`);
      expect([type, readHtml(text).texts(".options-fold[open]")]).toEqual([type, []]);
    }
  });

  test("every type has an icon, a purpose and its label in the picker, HTTP first", async () => {
    await using dashboard = await createMonitorDashboard();
    const page = readHtml((await dashboard.open(NEW_MONITOR)).text);
    expect(page.attributes(".picker li .button", "value")).toEqual([...SUPPORTED_TYPES]);
    expect(page.texts(".picker li .button")[0]).toBe("HTTP(S) A web address answers as it should");
    expect(page.texts(".picker > summary")).toEqual([
      "HTTP(S) · A web address answers as it should",
    ]);
  });

  test("choosing a type keeps what was typed, takes the defaults of the type, and saves nothing", async () => {
    await using dashboard = await createMonitorDashboard();
    const { site } = dashboard;
    const before = dashboard.written();
    const tls = formOf((await dashboard.open(`${NEW_MONITOR}?type=tls`)).text);
    const typed = {
      ...tls,
      name: "Backup",
      config_host: "db.example.com",
      component_ids: [site.components["API"] ?? ""],
      endpoint_format: "slack",
      endpoint_url: SLACK,
      reminder_seconds: "900",
      choose_type: "postgres",
    };
    const answer = await dashboard.send(NEW_MONITOR, typed);
    expect(answer.status).toBe(200);
    expect(formOf(answer.text)).toMatchObject({
      type: ["postgres"],
      name: ["Backup"],
      config_host: ["db.example.com"],
      config_port: ["5432"],
      component_ids: [site.components["API"] ?? ""],
      endpoint_format: ["slack"],
      endpoint_url: [SLACK],
      reminder_seconds: ["900"],
      interval_seconds: ["60"],
    });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(dashboard.written()).toEqual(before);
    const unknown = await dashboard.send(NEW_MONITOR, { ...typed, choose_type: "fax" });
    expect(unknown.status).toBe(422);
    expect(dashboard.written()).toEqual(before);
  });

  test("an interval that is not listed is typed in seconds, and a stored one is listed", async () => {
    await using dashboard = await createMonitorDashboard();
    const other = { interval_seconds: "other", interval_seconds_other: "45" };
    const id = monitorIdIn(await dashboard.create(other));
    expect(dashboard.stored(id).row.intervalSeconds).toBe(45);
    const { text } = await dashboard.open(`${MONITORS}/${id}/edit`);
    const page = readHtml(text);
    expect(page.texts("select[name=interval_seconds] option[selected]")).toEqual([
      "Every 45 seconds",
    ]);
    expect(page.texts("select[name=interval_seconds] option")).toEqual([
      "Every 10 seconds",
      "Every 30 seconds",
      "Every 45 seconds",
      "Every minute",
      "Every 5 minutes",
      "Every 15 minutes",
      "Every 30 minutes",
      "Every hour",
      "Every 6 hours",
      "Every day",
      "Other",
    ]);
  });

  test("a monitor keeps further components, and its first one can be changed or taken away", async () => {
    await using dashboard = await createMonitorDashboard();
    const { components } = dashboard.site;
    const [api = "", website = ""] = [components["API"], components["Website"]];
    const id = monitorIdIn(await dashboard.create({ more_component_ids: [website] }));
    const stored = () =>
      dashboard
        .stored(id)
        .components.map((each) => each.id)
        .toSorted();
    expect(stored()).toEqual([api, website].toSorted());
    const { text } = await dashboard.open(`${MONITORS}/${id}/edit`);
    const form = formOf(text);
    const [first] = form["component_ids"] ?? [];
    expect([...(form["component_ids"] ?? []), ...typedIn(text, "more_component_ids")]).toHaveLength(
      2,
    );
    const before = dashboard.written();
    await dashboard.edit(id, {});
    expect(dashboard.written()).toEqual(before);
    await dashboard.edit(id, { component_ids: "" });
    expect(stored()).toEqual([api, website].filter((each) => each !== first));
  });
});

describe("one round of errors", () => {
  const WRONG = {
    name: "",
    config_url: "http://169.254.169.254/latest",
    interval_seconds: "4",
    component_ids: "cmp_none",
    webhook_ids: "whk_none",
    endpoint_format: "slack",
    endpoint_url: "hooks.slack.com",
    timeout_ms: "1",
    config_certificate_warning_days: "many",
    retry_interval_seconds: "0",
  };

  const INPUTS = [
    "component_ids",
    "config_certificate_warning_days",
    "config_url",
    "endpoint_url",
    "interval_seconds_other",
    "name",
    "retry_interval_seconds",
    "timeout_ms",
    "webhook_ids",
  ];

  test("a new monitor gets the errors of all its fields at once, also of its URL and its endpoint", async () => {
    await using dashboard = await createMonitorDashboard();
    const before = dashboard.written();
    const { status, text } = await dashboard.create(WRONG);
    expect(status).toBe(422);
    expect(Object.keys(fieldErrorsOn(text)).sort()).toEqual(INPUTS);
    expect(dashboard.written()).toEqual(before);
    expect(rowsOf(dashboard)).toEqual([]);
  });

  test("a changed monitor gets the errors of all its fields at once", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make();
    const before = dashboard.written();
    const { status, text } = await dashboard.edit(id, WRONG);
    expect(status).toBe(422);
    expect(Object.keys(fieldErrorsOn(text)).sort()).toEqual(INPUTS);
    expect(dashboard.written()).toEqual(before);
  });

  test("a check before saving gets the errors of all that it needs at once", async () => {
    await using dashboard = await createMonitorDashboard();
    const { text } = await dashboard.create({ ...WRONG, intent: "check" });
    expect(Object.keys(fieldErrorsOn(text)).sort()).toEqual(
      INPUTS.filter((name) => !["endpoint_url", "name", "webhook_ids"].includes(name)),
    );
    expect(dashboard.triedOut).toEqual([]);
  });

  test("a schedule that would be ignored is reported beside the other errors", async () => {
    await using dashboard = await createMonitorDashboard();
    const answer = await dashboard.create({
      type: "push",
      name: "",
      timing: "none",
      config_schedule: "0 3 * * *",
    });
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["name", "timing"]);
  });
});

describe("the endpoints of a new monitor", () => {
  test("an address that is typed in the form gets the events of the monitor, and of no other", async () => {
    await using dashboard = await createMonitorDashboard();
    const endpoint = { endpoint_format: "slack", endpoint_url: ` ${SLACK} ` };
    const id = monitorIdIn(await dashboard.create(endpoint));
    expect(rowsOf(dashboard)).toMatchObject([
      {
        format: "slack",
        url: SLACK,
        description: "Slack",
        monitors: [id],
        events: [
          "monitor.down",
          "monitor.up",
          "monitor.degraded",
          "monitor.reminder",
          "monitor.certificate_expiring",
        ],
      },
    ]);
    const actions = dashboard.app.audit().map(({ action }) => action);
    expect(actions.slice(-2)).toEqual(["monitor.create", "webhook.create"]);
    const screen = readHtml((await dashboard.open(`${MONITORS}/${id}`)).text);
    expect(screen.texts(".flash")).toEqual([
      "The monitor was created. The check at 12:00:00 UTC succeeded. The response took 12 ms. Notified: Slack. Next: Create API Key",
    ]);
    expect(JSON.stringify([dashboard.app.audit(), dashboard.app.events()])).not.toContain("s3cr3t");
  });

  test("an address that has an endpoint already gets no second one", async () => {
    await using dashboard = await createMonitorDashboard();
    const endpoint = { endpoint_format: "slack", endpoint_url: SLACK };
    const first = monitorIdIn(await dashboard.create({ name: "First", ...endpoint }));
    const second = monitorIdIn(await dashboard.create({ name: "Second", ...endpoint }));
    expect(rowsOf(dashboard).map(({ monitors }) => monitors)).toEqual([[first, second]]);
    const before = dashboard.app.audit().length;
    await dashboard.edit(second, endpoint);
    expect(rowsOf(dashboard).map(({ monitors }) => monitors)).toEqual([[first, second]]);
    expect(dashboard.app.audit()).toHaveLength(before);
    const screen = readHtml((await dashboard.open(`${MONITORS}/${second}`)).text);
    expect(screen.texts(".flash")).toEqual(["Nothing was changed."]);
  });

  test("an address is added to an existing monitor", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make();
    const { version } = dashboard.stored(id).row;
    const endpoint = { endpoint_format: "ntfy", endpoint_url: "https://ntfy.sh/shop" };
    expect((await dashboard.edit(id, endpoint)).status).toBe(303);
    expect(rowsOf(dashboard)).toMatchObject([{ format: "ntfy", monitors: [id] }]);
    expect(dashboard.stored(id).row.version).toBe(version);
    const [flash] = readHtml((await dashboard.open(`${MONITORS}/${id}`)).text).texts(".flash");
    expect(flash).toStartWith("The monitor was changed. The check at 12:00:00 UTC succeeded.");
    expect(flash).toEndWith("Notified: ntfy.");
  });

  test("formats that need more than an address, and e-mail without mail, are not offered", async () => {
    await using dashboard = await createMonitorDashboard();
    const page = readHtml((await dashboard.open(NEW_MONITOR)).text);
    expect(page.texts("select[name=endpoint_format] option").toSorted()).toEqual([
      "Discord",
      "Microsoft Teams",
      "Slack",
      "ntfy",
    ]);
    const mail = await dashboard.create({ endpoint_format: "email", endpoint_url: "a@b.example" });
    expect(fieldErrorsOn(mail.text)["endpoint_url"]).toStartWith("Address needs mail");
    const fax = await dashboard.create({ endpoint_format: "fax", endpoint_url: "1" });
    expect(Object.keys(fieldErrorsOn(fax.text))).toContain("endpoint_format");
    expect(rowsOf(dashboard)).toEqual([]);
  });
});

describe("a saved monitor", () => {
  test("a failed check and its reason are shown after saving, and in the tone of a failure", async () => {
    await using dashboard = await createMonitorDashboard();
    dashboard.found = { outcome: "failed", latencyMs: null, message: "Connection refused." };
    const id = monitorIdIn(await dashboard.create());
    expect(dashboard.checked).toEqual([id]);
    const page = readHtml((await dashboard.open(`${MONITORS}/${id}`)).text);
    expect(page.texts(".flash.t-major")).toEqual([
      "The monitor was created. The check at 12:00:00 UTC failed. Connection refused. Nobody is notified about it. Next: Create webhook",
    ]);
  });

  test("a check without a result after three seconds is not waited for", async () => {
    await using dashboard = await createMonitorDashboard();
    const { promise, resolve } = Promise.withResolvers<void>();
    dashboard.answering = promise;
    const answering = dashboard.create();
    await dashboard.hasChecked(1);
    await dashboard.app.clock.advance(3_000);
    const id = monitorIdIn(await answering);
    const page = readHtml((await dashboard.open(`${MONITORS}/${id}`)).text);
    expect(page.texts(".flash")[0]).toStartWith(
      "The monitor was created. The result of a check follows.",
    );
    resolve();
  });

  test("a form that changes nothing and a paused monitor run no check", async () => {
    await using dashboard = await createMonitorDashboard();
    await dashboard.edit(await dashboard.make(), {});
    const paused = await dashboard.make({ paused: true });
    expect((await dashboard.edit(paused, { name: "Resting" })).status).toBe(303);
    expect(dashboard.checked).toEqual([]);
    const [flash] = readHtml((await dashboard.open(`${MONITORS}/${paused}`)).text).texts(".flash");
    expect(flash).toBe("The monitor was changed. Nobody is notified about it.");
  });

  test("the screen with the address of a job says who is notified", async () => {
    await using dashboard = await createMonitorDashboard();
    const endpoint = { endpoint_format: "slack", endpoint_url: SLACK };
    const answer = await dashboard.create({ type: "push", ...endpoint });
    expect(revealedToken(answer)).not.toBe("");
    expect(answer.text).toContain("Notified: Slack.");
    expect(dashboard.checked).toEqual([]);
  });
});
