import { describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../../../src/base/time";
import type { Fields } from "../../../support/dashboard";
import { readHtml, typedIn } from "../../../support/html";
import {
  createMonitorDashboard,
  formOf,
  monitorIdIn,
  MONITORS,
  NEW_MONITOR,
} from "../../../support/monitor-dashboard";

const VALUE = "Bearer s3cr3t-of-the-header";
const BODY = "s3cr3t-of-the-body";
const SECRETS = ["s3cr3t"];

const SECRET_FIELDS = {
  config_method: "POST",
  config_body: BODY,
  header_0_name: "Authorization",
  header_0_value: VALUE,
};

const config = (stored: { row: { config: object } }) =>
  stored.row.config as Record<string, unknown>;

describe("header values and body of an HTTP monitor", () => {
  test("stored header values and the body are on no screen and in no audit entry, event or log", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const id = monitorIdIn(await dashboard.create(SECRET_FIELDS));
    const paths = [
      MONITORS,
      ...["", "/edit", "/delete", "?range=90d"].map((it) => `${MONITORS}/${id}${it}`),
    ];
    for (const path of paths) {
      const answer = await dashboard.open(path);
      expect(answer.status).toBe(200);
      for (const secret of SECRETS) expect(answer.text).not.toContain(secret);
    }
    const wrong = await dashboard.edit(id, { name: "", config_body: `${BODY} again` });
    expect(wrong.status).toBe(422);
    const kept = JSON.stringify([wrong.text, app.audit(), app.events(), app.logged]);
    for (const secret of SECRETS) expect(kept).not.toContain(secret);
    expect(config(dashboard.stored(id))).toMatchObject({
      headers: { Authorization: VALUE },
      body: BODY,
    });
  });

  test("header values and the body of a rejected form are not redisplayed and need not be typed again", async () => {
    await using dashboard = await createMonitorDashboard();
    const rejected = await dashboard.create({ ...SECRET_FIELDS, name: "" });
    expect(rejected.status).toBe(422);
    for (const secret of SECRETS) expect(rejected.text).not.toContain(secret);
    expect(typedIn(rejected.text, "header_0_name")).toEqual(["Authorization"]);
    expect(readHtml(rejected.text).attributes("[name=header_0_value]", "placeholder")).toEqual([
      "Set. Leave empty to keep it",
    ]);
    const answer = await dashboard.send(NEW_MONITOR, { ...formOf(rejected.text), name: "Shop" });
    expect(config(dashboard.stored(monitorIdIn(answer)))).toMatchObject({
      headers: { Authorization: VALUE },
      body: BODY,
    });
  });

  test("header values and the body of a rejected form are not available to another user", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const rejected = await dashboard.create({ ...SECRET_FIELDS, name: "" });
    const session = await app.signedIn("admin");
    const form = { ...formOf(rejected.text), name: "Shop" };
    const answer = await app.call(NEW_MONITOR, { session, form });
    expect(answer.status).toBe(422);
    expect(readHtml(answer.text).texts("[role=alert] li a")).toEqual(["Headers", "Body"]);
    expect(app.audit().map(({ action }) => action)).not.toContain("monitor.create");
  });

  test("header values and the body of a rejected form must be typed again after half an hour", async () => {
    await using dashboard = await createMonitorDashboard();
    const rejected = await dashboard.create({ ...SECRET_FIELDS, name: "" });
    await dashboard.app.clock.advance(30 * MINUTE_MS);
    const before = dashboard.written();
    const late = await dashboard.send(NEW_MONITOR, { ...formOf(rejected.text), name: "Shop" });
    expect(late.status).toBe(422);
    expect(dashboard.written()).toEqual(before);
    const typed = { ...formOf(late.text), header_0_value: VALUE, config_body: BODY };
    const made = dashboard.stored(monitorIdIn(await dashboard.send(NEW_MONITOR, typed)));
    expect(config(made)).toMatchObject({ headers: { Authorization: VALUE }, body: BODY });
  });

  test("header values and the body of a rejected form can be removed", async () => {
    await using dashboard = await createMonitorDashboard();
    const rejected = await dashboard.create({ ...SECRET_FIELDS, name: "" });
    const removed = { header_0_remove: "yes", config_body_remove: "yes" };
    const form = { ...formOf(rejected.text), name: "Shop", ...removed };
    const stored = config(dashboard.stored(monitorIdIn(await dashboard.send(NEW_MONITOR, form))));
    expect(stored["headers"]).toBeUndefined();
    expect(stored["body"]).toBeUndefined();
  });
});

describe("the form that edits a monitor with secrets", () => {
  test("the edit form keeps secrets left empty, replaces typed ones and removes ticked ones", async () => {
    await using dashboard = await createMonitorDashboard();
    const headers = { Authorization: VALUE, "X-Old": "old", "X-Kept": "kept" };
    const url = "https://shop.example.com/";
    const id = await dashboard.make({ config: { url, method: "POST", headers, body: BODY } });
    const answer = await dashboard.edit(id, {
      name: "Renamed",
      header_0_value: "Bearer new",
      header_1_remove: "yes",
      header_3_name: "X-New",
      header_3_value: "new",
    });
    expect(answer.status).toBe(303);
    expect(config(dashboard.stored(id))).toEqual({
      url,
      method: "POST",
      headers: { Authorization: "Bearer new", "X-Kept": "kept", "X-New": "new" },
      body: BODY,
    });
  });

  test("a body and headers can be added to a monitor without any, also after an error, a trial or a conflict", async () => {
    const firsts: Fields[] = [
      {},
      { name: "" },
      { intent: "check" },
      { intent: "rows" },
      { version: "0" },
    ];
    for (const first of firsts) {
      await using dashboard = await createMonitorDashboard();
      const id = await dashboard.make();
      const path = `${MONITORS}/${id}/edit`;
      const shown = await dashboard.edit(id, { ...SECRET_FIELDS, ...first });
      if (Object.keys(first).length > 0) {
        const again = { ...formOf(shown.text), name: "Shop" };
        expect((await dashboard.send(path, again)).status).toBe(303);
      }
      expect(config(dashboard.stored(id))).toMatchObject({
        headers: { Authorization: VALUE },
        body: BODY,
      });
    }
  });

  test("trying a monitor sends the body that was added in the edit form", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make();
    await dashboard.edit(id, { ...SECRET_FIELDS, intent: "check" });
    expect(dashboard.triedOut.map((tried) => tried.config)).toMatchObject([{ body: BODY }]);
  });

  test("the edit form removes the body if that is ticked", async () => {
    await using dashboard = await createMonitorDashboard();
    const url = "https://shop.example.com/";
    const id = await dashboard.make({ config: { url, method: "POST", body: BODY } });
    expect((await dashboard.edit(id, { config_body_remove: "yes" })).status).toBe(303);
    expect(config(dashboard.stored(id))).toEqual({ url, method: "POST" });
  });

  test("header values are not sent to another server until they are typed again or removed", async () => {
    await using dashboard = await createMonitorDashboard();
    const config_ = { url: "https://shop.example.com/", headers: { Authorization: VALUE } };
    const id = await dashboard.make({ config: config_ });
    const before = dashboard.written();
    const moved = { config_url: "https://elsewhere.example/" };
    const rejected = await dashboard.edit(id, moved);
    expect(rejected.status).toBe(422);
    expect(readHtml(rejected.text).texts(".field-error")).toEqual([
      "The stored values belong to another server or request. Type them again, or remove the headers.",
    ]);
    expect(dashboard.written()).toEqual(before);
    const trial = await dashboard.edit(id, { ...moved, intent: "check" });
    expect(trial.status).toBe(422);
    expect(dashboard.triedOut).toEqual([]);
    expect((await dashboard.edit(id, { ...moved, header_0_remove: "yes" })).status).toBe(303);
    expect(config(dashboard.stored(id))).toEqual({
      url: "https://elsewhere.example/",
      headers: {},
    });
  });
});
