import { describe, expect, test } from "bun:test";
import { readHtml, typedIn } from "../../../support/html";
import { createMonitorDashboard, monitorIdIn, MONITORS } from "../../../support/monitor-dashboard";

const SELECTED = `${MONITORS}/selected`;
const names = (html: string) => readHtml(html).texts(".row-link");

describe("tags of monitors on the dashboard", () => {
  test("a monitor is created and edited with tags, one on each line", async () => {
    await using dashboard = await createMonitorDashboard();
    const made = await dashboard.create({ tags: " production \r\n\r\nTeam A, B\r\n" });
    const id = monitorIdIn(made);
    expect(dashboard.stored(id).row.tags).toEqual(["production", "Team A, B"]);
    const form = (await dashboard.open(`${MONITORS}/${id}/edit`)).text;
    expect(readHtml(form).texts("textarea[name=tags]")).toEqual(["production Team A, B"]);
    const { version } = dashboard.stored(id).row;
    await dashboard.edit(id, { name: "Shop 2" });
    expect(dashboard.stored(id).row).toMatchObject({
      tags: ["production", "Team A, B"],
      version: version + 1,
    });
    await dashboard.edit(id, { tags: "" });
    expect(dashboard.stored(id).row.tags).toEqual([]);
  });

  test("invalid tags are shown again with the error, and nothing is saved", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ tags: ["kept"] });
    const before = dashboard.written();
    const answer = await dashboard.edit(id, { tags: "api\nAPI" });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain("item 2 is a repetition; case is ignored");
    expect(readHtml(answer.text).texts("textarea[name=tags]")).toEqual(["api API"]);
    const many = Array.from({ length: 21 }, (_, index) => `${index}`).join("\n");
    expect((await dashboard.create({ tags: many })).status).toBe(422);
    expect(dashboard.written()).toEqual(before);
  });

  test("the clone of a monitor has its tags", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ tags: ["a", "b"] });
    const { text } = await dashboard.open(`${MONITORS}/new?type=http&from=${id}`);
    expect(readHtml(text).texts("textarea[name=tags]")).toEqual(["a b"]);
  });

  test("the list shows three tags of a monitor as links, its screen shows all, and a filter selects one", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const tags = ["production", "<b>", "c", "d"];
    const id = await dashboard.make({ name: "Shop", tags });
    await dashboard.make({ name: "Other", tags: ["Production"] });
    await dashboard.make({ name: "Third" });
    const list = readHtml((await dashboard.open()).text);
    const [row] = list.texts("tbody tr").filter((text) => text.startsWith("Shop"));
    expect(row).toContain("and 1 more");
    expect(list.attributes("tbody .tags a", "href")).toContain(`${MONITORS}?tag=%3Cb%3E`);
    expect(list.texts("select[name=tag] option")).toEqual([
      "Every tag",
      "<b>",
      "c",
      "d",
      "Production",
    ]);
    const screen = readHtml((await dashboard.open(`${MONITORS}/${id}`)).text);
    expect(screen.attributes("#monitor-configuration .tags a", "href")).toEqual(
      tags.map((tag) => `${MONITORS}?tag=${encodeURIComponent(tag)}`),
    );
    const filtered = await dashboard.open(`${MONITORS}?tag=production&type=http`);
    expect(names(filtered.text)).toEqual(["Other", "Shop"]);
    const page = readHtml(filtered.text);
    expect(page.attributes("select[name=tag] option[selected]", "value")).toEqual(["Production"]);
    expect(page.attributes(".tabs a", "href")[0]).toBe(`${MONITORS}?type=http&tag=production`);
    expect(page.attributes(".list-clear", "href")).toEqual([MONITORS]);
    const unknown = await dashboard.open(`${MONITORS}?tag=unknown`);
    expect(names(unknown.text)).toEqual([]);
    expect(readHtml(unknown.text).attributes("select[name=tag] option[selected]", "value")).toEqual(
      ["unknown"],
    );
  });

  test("the list without any tag has no filter for them", async () => {
    await using dashboard = await createMonitorDashboard();
    await dashboard.make();
    expect(readHtml((await dashboard.open()).text).attributes("select[name=tag]", "name")).toEqual(
      [],
    );
  });

  test("a tag is added to selected monitors and removed from them, each with its own entry in the audit log", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const full = Array.from({ length: 20 }, (_, index) => `tag ${index}`);
    const ids = [
      await dashboard.make({ name: "A", tags: ["x"] }),
      await dashboard.make({ name: "B" }),
      await dashboard.make({ name: "C", tags: ["PRODUCTION"] }),
      await dashboard.make({ name: "D", tags: full }),
    ];
    const before = dashboard.written();
    const asked = await dashboard.send(`${SELECTED}?q=a`, { intent: "tag", id: ids });
    expect(asked.status).toBe(200);
    const form = readHtml(asked.text);
    expect(form.texts("h1")).toEqual(["Tag 4 monitors"]);
    const [action = ""] = form.attributes("main form", "action");
    expect(action).toBe(`${SELECTED}/tag?q=a`);
    expect(dashboard.written()).toEqual(before);
    const flash = async () => readHtml((await dashboard.open()).text).texts(".flash")[0];
    const added = await dashboard.send(action, { id: ids, tag: " production ", action: "add" });
    expect(added.headers.get("location")).toBe(`${MONITORS}?q=a`);
    expect(await flash()).toContain(
      "2 monitors are tagged “production”. 1 monitor is tagged “production” already. 1 monitor has 20 tags, the maximum.",
    );
    const tags = () => ids.map((id) => dashboard.stored(id).row.tags);
    expect(tags()).toEqual([["x", "production"], ["production"], ["PRODUCTION"], full]);
    const updated = app.audit().filter(({ action: each }) => each === "monitor.update");
    expect(updated.map(({ targetId }) => targetId)).toEqual(ids.slice(0, 2));
    await dashboard.send(action, { id: ids, tag: "Production", action: "remove" });
    expect(await flash()).toContain(
      "3 monitors are no longer tagged “Production”. 1 monitor is not tagged “Production”.",
    );
    expect(tags()).toEqual([["x"], [], [], full]);
  });

  test("an invalid tag or action for selected monitors is rejected with what was typed, and an editor may not tag", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make();
    const before = dashboard.written();
    for (const [tag, action] of [
      ["", "add"],
      ["x".repeat(101), "add"],
      ["a\u0007b", "add"],
      ["fine", "explode"],
    ]) {
      const answer = await dashboard.send(`${SELECTED}/tag`, { id: [id], tag, action } as never);
      expect(answer.status, `${tag} ${action}`).toBe(422);
      expect(typedIn(answer.text, "tag")).toEqual([tag ?? ""]);
      expect(typedIn(answer.text, "id")).toEqual([id]);
    }
    expect(dashboard.written()).toEqual(before);
    const session = await dashboard.app.signedIn("editor");
    const form = { id: [id], tag: "fine", action: "add" };
    expect((await dashboard.app.call(`${SELECTED}/tag`, { session, form })).status).toBe(403);
    expect(dashboard.stored(id).row.tags).toEqual([]);
  });
});
