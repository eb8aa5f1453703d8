import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createMonitorApi, HTTP } from "../../support/monitor-api";

describe("group and notes of monitors", () => {
  test("a monitor has neither unless it is created with them, and null clears them", async () => {
    await using api = await createMonitorApi();
    expect(await api.create()).toMatchObject({ group: null, notes: null });
    const given = { group: "Data centre 2", notes: "Ask Ann.\nThen Ben." };
    const { id } = await api.create(given);
    expect((await api.call(`/${id}`)).body).toMatchObject({ ...given, version: 1 });
    const changed = await api.patch(id, { group: "DC 2", notes: null });
    expect(changed.body).toMatchObject({ group: "DC 2", notes: null, version: 2 });
    expect(api.app.audit().at(-1)).toMatchObject({
      action: "monitor.update",
      summary: "Changed the monitor “Shop”: group, notes",
    });
    expect((await api.patch(id, { group: "DC 2" })).body.version).toBe(2);
    expect((await api.patch(id, { group: null })).body).toMatchObject({ group: null, version: 3 });
  });

  test("a change of them alone does not make visitors load the page again", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create({ component_ids: [api.components["API"] ?? ""] });
    let changes = 0;
    api.app.ctx.signals.pageChanged.on(() => (changes += 1));
    await api.patch(id, { group: "DC 2", notes: "Ask Ann." });
    expect(changes).toBe(0);
  });

  test("the longest group and the longest notes are accepted", async () => {
    await using api = await createMonitorApi();
    const longest = { group: "é".repeat(255), notes: "é".repeat(1_000) };
    expect(await api.create(longest)).toMatchObject(longest);
  });

  test.each([
    ["an empty group", { group: "" }, "is empty"],
    ["too long a group", { group: "x".repeat(256) }, "is 256 characters long; 255 is the most"],
    [
      "a group on two lines",
      { group: "a\nb" },
      "holds control characters or bidirectional overrides",
    ],
    ["a group with white space before it", { group: " a" }, "begins or ends with white space"],
    ["too long notes", { notes: "x".repeat(1_001) }, "is 1001 characters long; 1000 is the most"],
    ["notes that are no text", { notes: 1 }, "must be text"],
  ])("%s is rejected in a new monitor and in a change", async (_, fields, detail) => {
    await using api = await createMonitorApi();
    const { id } = await api.create();
    const before = api.written();
    const pointer = `#/${Object.keys(fields)[0]}`;
    for (const answer of [await api.post({ ...HTTP, ...fields }), await api.patch(id, fields)]) {
      expectProblem(answer, "validation_failed");
      expect(answer.body.errors).toEqual([{ pointer, detail }]);
    }
    expect(api.written()).toEqual(before);
  });

  test("GET /monitors?group= lists the monitors of a group on every part of the list", async () => {
    await using api = await createMonitorApi();
    await api.create({ name: "A", group: "DC 2", tags: ["disk"] });
    await api.create({ name: "B", group: "DC 2" });
    await api.create({ name: "C", group: "DC 20" });
    await api.create({ name: "D" });
    const namesFor = async (query: string) =>
      (await api.call(query)).body.data.map((one: { name: string }) => one.name);
    expect(await namesFor("?group=DC%202")).toEqual(["B", "A"]);
    expect(await namesFor("?group=DC%202&tag=DISK")).toEqual(["A"]);
    expect(await namesFor("?group=dc%202")).toEqual([]);
    expect(await namesFor("?group=DC")).toEqual([]);
    const first = await api.call("?group=DC%202&limit=1");
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
    expect(new URL(next).searchParams.get("group")).toBe("DC 2");
  });

  test("an empty group and a control character in the filter are rejected", async () => {
    await using api = await createMonitorApi();
    for (const group of ["", "a%0Ab"]) {
      expectProblem(await api.call(`?group=${group}`), "invalid_request");
    }
  });

  test("group and notes are in no public document", async () => {
    await using api = await createMonitorApi();
    const { app } = api;
    const SECRET = "for-staff-only";
    const component = api.components["API"] ?? "";
    const hidden = { group: SECRET, notes: SECRET };
    await api.create({ ...hidden, component_ids: [component], open_incident: "automatic" });
    for (const path of [
      "/status/acme",
      "/status/acme/summary.json",
      "/status/acme/feed.atom",
      "/status/acme/history",
      "/status/acme/api/v2/summary.json",
    ]) {
      const answer = await app.call(path);
      expect(answer.status, path).toBe(200);
      expect(answer.text, path).not.toContain(SECRET);
    }
  });
});
