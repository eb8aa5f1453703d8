import { describe, expect, test } from "bun:test";
import { readHtml, typedIn } from "../../../support/html";
import {
  createMonitorDashboard,
  formOf,
  monitorIdIn,
  MONITORS,
} from "../../../support/monitor-dashboard";

describe("group, notes and inversion of monitors on the dashboard", () => {
  test("a monitor is created and edited with them, and empty inputs clear them", async () => {
    await using dashboard = await createMonitorDashboard();
    const typed = { group: " DC 2 ", notes: "Ask Ann.\r\nThen Ben.", inverted: "yes" };
    const id = monitorIdIn(await dashboard.create(typed));
    const stored = { group: "DC 2", notes: "Ask Ann.\nThen Ben.", inverted: true };
    expect(dashboard.stored(id).row).toMatchObject(stored);
    const form = (await dashboard.open(`${MONITORS}/${id}/edit`)).text;
    expect(typedIn(form, "group")).toEqual(["DC 2"]);
    expect(readHtml(form).attributes("datalist option", "value")).toEqual(["DC 2"]);
    await dashboard.edit(id, { name: "Shop 2" });
    expect(dashboard.stored(id).row).toMatchObject(stored);
    await dashboard.edit(id, { group: "", notes: " ", inverted: [] });
    expect(dashboard.stored(id).row).toMatchObject({ group: null, notes: null, inverted: false });
  });

  test("too long notes are shown again with the error, and nothing is saved", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ notes: "kept" });
    const before = dashboard.written();
    const answer = await dashboard.edit(id, { notes: "x".repeat(1_001) });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain("is 1001 characters long; 1000 is the most");
    expect(dashboard.written()).toEqual(before);
  });

  test("the list filters by group, and group and notes are on the screen of the monitor", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const id = await dashboard.make({ name: "Shop", group: "A & B", notes: "<i>1</i>\n2" });
    await dashboard.make({ name: "Other", group: "C" });
    await dashboard.make({ name: "Third" });
    const list = readHtml((await dashboard.open()).text);
    expect(list.texts("select[name=group] option")).toEqual(["Every group", "A & B", "C"]);
    expect(list.attributes("tbody .tags a", "href")).toContain(`${MONITORS}?group=A+%26+B`);
    const filtered = readHtml((await dashboard.open(`${MONITORS}?group=A+%26+B`)).text);
    expect(filtered.texts(".row-link")).toEqual(["Shop"]);
    const screen = (await dashboard.open(`${MONITORS}/${id}`)).text;
    expect(readHtml(screen).texts("#monitor-configuration dd")).toContain("<i>1</i>2");
    expect(screen).toContain("&lt;i>1&lt;/i><br/>2");
  });

  test("the longest group and tags of any characters filter the list by their links", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const group = "🏢".repeat(255);
    const fox = "🦊".repeat(100);
    const odd = ["a,b", 'He said "no"', "it's <b> & 100%", fox, "back\\slash", "عربي"];
    const tags = [...odd, ...Array.from({ length: 14 }, (_, index) => `tag ${index}`)];
    const id = await dashboard.make({ name: "Odd", group, tags });
    await dashboard.make({ name: "Other", group: "🏢".repeat(254), tags: ["a", "b", "no"] });
    const screen = readHtml((await dashboard.open(`${MONITORS}/${id}`)).text);
    const links = screen.attributes("#monitor-configuration .tags a", "href");
    expect(links).toHaveLength(21);
    for (const link of links) {
      // oxlint-disable-next-line no-await-in-loop
      expect(readHtml((await dashboard.open(link)).text).texts(".row-link"), link).toEqual(["Odd"]);
    }
    const form = `${MONITORS}?${new URLSearchParams({ group, tag: fox, sort: "name" })}`;
    const list = readHtml((await dashboard.open(form)).text);
    expect(list.texts(".row-link")).toEqual(["Odd"]);
    expect(list.attributes("select[name=group] option[selected]", "value")).toEqual([group]);
    expect(list.attributes("select[name=tag] option[selected]", "value")).toEqual([fox]);
  });

  test("without groups the list has no filter for them", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    await dashboard.make();
    expect((await dashboard.open()).text).not.toContain('name="group"');
  });
});

test("reminders are set and shown, and an empty input turns them off", async () => {
  await using dashboard = await createMonitorDashboard();
  const id = monitorIdIn(await dashboard.create({ reminder_seconds: "7,200" }));
  expect(dashboard.stored(id).row.reminderSeconds).toBe(7_200);
  const screen = readHtml((await dashboard.open(`${MONITORS}/${id}`)).text);
  expect(screen.texts("#monitor-configuration dd")).toContain("every 2 h");
  const answer = await dashboard.edit(id, { reminder_seconds: "60" });
  expect(answer.status).toBe(422);
  expect(answer.text).toContain("must be 0 or at least 300");
  await dashboard.edit(id, { reminder_seconds: "" });
  expect(dashboard.stored(id).row.reminderSeconds).toBe(0);
});

describe("calls without a deadline on the dashboard", () => {
  test("an empty interval of a push monitor removes the deadline, and a number sets one", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ type: "push", config: {} });
    await dashboard.edit(id, { timing: "none", interval_seconds: "" });
    expect(dashboard.stored(id).row.intervalSeconds).toBeNull();
    const form = (await dashboard.open(`${MONITORS}/${id}/edit`)).text;
    expect(formOf(form)["interval_seconds"]).toEqual([""]);
    const screen = await dashboard.open(`${MONITORS}/${id}`);
    expect(screen.text).toContain("at any time");
    await dashboard.edit(id, { timing: "interval", interval_seconds: "31,536,000" });
    expect(dashboard.stored(id).row.intervalSeconds).toBe(31_536_000);
  });

  test("an active check needs an interval", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make();
    expect((await dashboard.edit(id, { interval_seconds: "" })).status).toBe(422);
  });
});
