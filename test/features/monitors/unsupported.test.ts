import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { SUPPORTED_TYPES } from "../../../src/base/status";
import { exportFile } from "../../../src/features/apply/apply";
import { findComponent } from "../../../src/features/components/store";
import { getMonitorRecord } from "../../../src/features/monitors/records";
import { expectProblem } from "../../support/app";
import { apply, applyError, linesOf } from "../../support/apply";
import { createMonitorApi } from "../../support/monitor-api";
import { importUnsupported } from "../../support/unsupported-monitor";
import { createUnsupportedMonitor } from "../../support/examined";

const CANNOT_CHECK =
  "This version cannot check monitors of the type MongoDB, imported from Uptime Kuma.";

describe("monitors that this version cannot check", () => {
  test("an imported one is paused, is audited and shows its origin without its settings", async () => {
    await using api = await createMonitorApi();
    const id = await importUnsupported(api.app, {
      component_ids: [api.components["API"] ?? ""],
      interval_seconds: 200_000,
      tags: ["imported"],
    });
    const answer = await api.call(`/${id}`);
    expect(answer.body).toMatchObject({
      ref: "orders",
      type: "unsupported",
      config: { source: "uptime-kuma", type: "mongodb", target: "db.example.com:27017" },
      component_ids: [api.components["API"]],
      interval_seconds: 200_000,
      tags: ["imported"],
      paused: true,
      state: "paused",
      last_check: null,
    });
    expect(answer.text).not.toContain("settings");
    expect(answer.text).not.toContain("let-me-in");
    expect(api.app.audit().at(-1)).toMatchObject({
      action: "monitor.create",
      summary: "Created the monitor “Orders” (unsupported)",
    });
    expect(JSON.stringify([api.app.audit(), api.app.events()])).not.toContain("let-me-in");
    expect(getMonitorRecord(api.app.ctx.db, id).row.config["settings"]).toEqual({
      connection: "mongodb://app:let-me-in@db.example.com:27017",
      timeout: 48,
    });
  });

  test("an import with invalid fields is rejected by the names of all of them", async () => {
    await using api = await createMonitorApi();
    const before = api.written();
    const config = { source: "uptime-kuma", type: "mongodb", target: "", settings: {} };
    const importing = importUnsupported(api.app, { name: "", config });
    const pointers = importing.catch((error) =>
      error.fields.map(({ pointer }: { pointer: string }) => pointer),
    );
    expect(await pointers).toEqual(["#/name", "#/config/target"]);
    const component_ids = ["cmp_unknown"];
    await expect(importUnsupported(api.app, { component_ids })).rejects.toThrow();
    expect(api.written()).toEqual(before);
  });

  test("an import with a ref that is taken is a conflict", async () => {
    await using api = await createMonitorApi();
    const { ref } = await api.create();
    const { ctx } = api.app;
    const config = { source: "gatus", type: "x", target: "y", settings: {} };
    const importing = ctx.db.write((tx) =>
      createUnsupportedMonitor(ctx, tx, { name: "Shop", config }, CLI_ACTOR, { ref }),
    );
    await expect(importing).rejects.toThrow(`The ref ${ref} is taken by another monitor.`);
  });

  test("the API and files cannot create one", async () => {
    await using api = await createMonitorApi();
    const before = api.written();
    const config = { source: "uptime-kuma", type: "mongodb", target: "x", settings: {} };
    const answer = await api.post({ type: "unsupported", name: "Orders", config });
    expectProblem(answer, "validation_failed");
    const oneOf = `must be one of ${SUPPORTED_TYPES.join(", ")}`;
    expect(answer.body.errors).toEqual([{ pointer: "#/type", detail: oneOf }]);
    const file = `
pages: []
monitors: [{ name: Orders, type: unsupported, config: { target: x } }]`;
    expect(await applyError(api.app, file)).toContain(oneOf);
    expect(api.written()).toEqual(before);
  });

  test("checking and resuming one are conflicts that name its type, and pausing changes nothing", async () => {
    await using api = await createMonitorApi();
    const id = await importUnsupported(api.app);
    const before = api.written();
    for (const verb of ["check", "resume"]) {
      // oxlint-disable-next-line no-await-in-loop
      const answer = await api.call(`/${id}/${verb}`, { method: "POST" });
      expectProblem(answer, "conflict");
      expect(answer.body.detail).toBe(CANNOT_CHECK);
    }
    const paused = await api.call(`/${id}/pause`, { method: "POST" });
    expect(paused.body).toMatchObject({ paused: true, version: 1 });
    expectProblem(await api.call(`/${id}/rotate-token`, { method: "POST" }), "conflict");
    expect(api.checked).toEqual([]);
    expect(api.written()).toEqual(before);
  });

  test("an unknown type and an unknown product keep their own names in the conflict", async () => {
    await using api = await createMonitorApi();
    const config = { source: "constructor", type: "toString", target: "x", settings: {} };
    const id = await importUnsupported(api.app, { config });
    const answer = await api.call(`/${id}/resume`, { method: "POST" });
    expect(answer.body.detail).toBe(
      "This version cannot check monitors of the type toString, imported from constructor.",
    );
  });

  test("its name, components, group, tags and notes can be changed, and its settings stay", async () => {
    await using api = await createMonitorApi();
    const id = await importUnsupported(api.app);
    const { config } = getMonitorRecord(api.app.ctx.db, id).row;
    const change = {
      name: "Orders database",
      component_ids: [api.components["API"]],
      group: "Databases",
      tags: ["imported"],
      notes: "Ask Ann.",
    };
    const answer = await api.patch(id, change);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ ...change, paused: true, version: 2 });
    expect(getMonitorRecord(api.app.ctx.db, id).row.config).toEqual(config);
  });

  test.each([
    ["config", { target: "other.example.com" }],
    ["interval_seconds", 30],
    ["inverted", true],
    ["depends_on", []],
    ["on_down", "major_outage"],
  ])("its %s cannot be changed", async (field, value) => {
    await using api = await createMonitorApi();
    const id = await importUnsupported(api.app);
    const before = api.written();
    const answer = await api.patch(id, { name: "Renamed", [field]: value });
    expectProblem(answer, "validation_failed");
    const detail = "cannot be changed, since this version cannot check the monitor";
    expect(answer.body.errors).toEqual([{ pointer: `#/${field}`, detail }]);
    expect(api.written()).toEqual(before);
  });

  test("GET /monitors?type=unsupported lists it, and DELETE deletes it", async () => {
    await using api = await createMonitorApi();
    await api.create();
    const id = await importUnsupported(api.app);
    const listed = await api.call("?type=unsupported");
    expect(listed.body.data.map((one: { id: string }) => one.id)).toEqual([id]);
    expect((await api.call(`/${id}`, { method: "DELETE" })).status).toBe(204);
    expectProblem(await api.call(`/${id}`), "not_found");
  });

  test("its component keeps the manual status and stays operational on the page", async () => {
    await using api = await createMonitorApi();
    const componentId = api.components["API"] ?? "";
    await importUnsupported(api.app, { component_ids: [componentId] });
    await api.app.clock.advance(120_000);
    expect(findComponent(api.app.ctx.db, { id: componentId })?.status).toBe("operational");
    const page = await api.app.call("/status/acme");
    expect(page.text).toContain("Operational");
    expect(page.text).not.toContain("Orders");
  });

  test("a monitor that depends on it is checked as without it", async () => {
    await using api = await createMonitorApi();
    const id = await importUnsupported(api.app);
    const child = await api.create({ depends_on: [id] });
    expect(child).toMatchObject({ depends_on: [id], state: "pending" });
  });

  test("an export leaves it out, and applying the export with prune keeps it", async () => {
    await using api = await createMonitorApi();
    const id = await importUnsupported(api.app, { component_ids: [api.components["API"] ?? ""] });
    await api.create({ name: "Child", depends_on: [id] });
    const { db } = api.app.ctx;
    const file = await db.write((tx) => exportFile(tx));
    expect(JSON.stringify(file)).not.toContain("mongodb");
    expect(file.monitors?.map(({ name }) => name)).toEqual(["Child"]);
    const outcome = await apply(api.app, JSON.stringify(file), true);
    expect(linesOf(outcome)).toEqual([]);
    expect(outcome.leftovers).toEqual([]);
    expect(getMonitorRecord(db, id).row.paused).toBe(true);
  });

  test("a file cannot turn it into a monitor of another type", async () => {
    await using api = await createMonitorApi();
    await importUnsupported(api.app);
    const file = `
pages: []
monitors: [{ name: Orders, ref: orders, type: tcp, config: { host: a.example, port: 1 } }]`;
    expect(await applyError(api.app, file)).toContain(
      "type is unsupported and cannot change; use another ref for another type",
    );
  });

  test("the OpenAPI document describes it in answers and filters, and not in new monitors", async () => {
    await using api = await createMonitorApi();
    const { components, paths } = (await api.app.call("/openapi.json")).body;
    const schemaOf = ({ $ref }: { $ref: string }) =>
      components.schemas[$ref.split("/").at(-1) ?? ""];
    const typesOf = (name: string): string[] =>
      components.schemas[name].oneOf.flatMap(
        (shape: { $ref: string }) => schemaOf(schemaOf(shape).properties.type).enum,
      );
    expect(typesOf("Monitor")).toEqual([...SUPPORTED_TYPES, "unsupported"]);
    const filter = paths["/api/v1/monitors"].get.parameters.find(
      ({ name }: { name: string }) => name === "type",
    );
    expect(JSON.stringify(filter)).toContain("MonitorType");
    for (const name of ["CreateMonitor", "CreatedMonitor"]) {
      expect(typesOf(name)).toEqual([...SUPPORTED_TYPES]);
    }
    const { config } = components.schemas.UnsupportedMonitor.properties;
    expect(Object.keys(schemaOf(config).properties)).toEqual(["source", "type", "target"]);
  });
});
