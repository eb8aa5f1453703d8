import { describe, expect, test } from "bun:test";
import { createDeliverySite } from "../../../support/delivery-site";
import { readHtml } from "../../../support/html";
import { startReceiver } from "../../../support/receiver";
import { createWebhookDashboard, PROGRAM, WEBHOOK_LIST } from "../../../support/webhook-dashboard";

const DAY = 86_400_000;

/** A list's lines, each with the texts of its cells, their notes behind a comma; waits are not exact. */
function linesOf(html: string): string[][] {
  const cells = readHtml(html.replaceAll('<div class="cell-note">', "$&, "))
    .texts("tbody td")
    .map((cell) => cell.replace(/, [1-3] s ago$/, ", a moment ago"));
  const width = readHtml(html).texts("thead th").length;
  return Array.from({ length: cells.length / width }, (_, line) =>
    cells.slice(line * width, (line + 1) * width),
  );
}

describe("the list of webhooks", () => {
  test("an empty list of webhooks explains webhooks and links to the form for the first one", async () => {
    await using dashboard = await createWebhookDashboard();
    const page = readHtml((await dashboard.open(WEBHOOK_LIST)).text);
    expect(page.texts(".empty h2")).toEqual(["No webhooks yet"]);
    expect(page.attributes(".empty a", "href")).toEqual([`${WEBHOOK_LIST}/new`]);
  });

  test("the list of webhooks shows success rate, pending deliveries and last failure of each", async () => {
    await using well = startReceiver(({ data }) => (data.index === 1 ? 500 : 204));
    await using down = startReceiver(() => 503);
    await using site = await createDeliverySite();
    await using dashboard = await createWebhookDashboard({ app: site.app });
    await site.endpoint(well.url, { description: "Relay", page: "acme" });
    await site.endpoint(down.url, { description: "Chat", events: ["monitor.down"] });
    await site.endpoint(PROGRAM, { description: "Off", enabled: false });
    await site.recordEvents(...Array.from({ length: 3 }, () => ({ pageId: dashboard.page.id })));
    await site.recordEvents({ type: "monitor.down", subjectId: "mon_1" });
    await site.pass(7_000);
    const { text } = await dashboard.open(WEBHOOK_LIST);
    expect(linesOf(text)).toEqual([
      ["Off, Standard Webhooks", "All events", "Disabled", "No attempts", "None", "None"],
      [
        "Chat, Standard Webhooks",
        "1 event",
        "Failing",
        "0.0 %",
        "1, oldest 7 s ago",
        "503 Service Unavailable, a moment ago",
      ],
      [
        "Relay, Standard Webhooks",
        "All events, Acme",
        "Failing",
        "50.0 %",
        "1, oldest 7 s ago",
        "500 Internal Server Error, a moment ago",
      ],
    ]);
  });

  test("a webhook that was disabled automatically has a notice with the reason, one disabled by hand has none", async () => {
    await using gone = startReceiver(() => 410);
    await using site = await createDeliverySite();
    await using dashboard = await createWebhookDashboard({ app: site.app });
    await site.endpoint(PROGRAM, { description: "Off", enabled: false });
    const { id } = await site.endpoint(gone.url, { description: "Old pager" });
    await site.recordEvents("cmp_1");
    await site.idle();
    const list = readHtml((await dashboard.open(WEBHOOK_LIST)).text);
    expect(list.texts(".notice .strong")).toEqual(["“Old pager” was disabled"]);
    expect(list.texts(".notice")[0]).toContain("The endpoint answered 410 Gone");
    expect(list.attributes(".notice a", "href")).toEqual([`${WEBHOOK_LIST}/${id}`]);
    const own = readHtml((await dashboard.open(`${WEBHOOK_LIST}/${id}`)).text);
    expect(own.texts(".notice .strong")).toEqual(["This webhook was disabled automatically"]);
    expect(own.attributes(".notice form", "action")).toEqual([`${WEBHOOK_LIST}/${id}/enable`]);
    await dashboard.send(`${WEBHOOK_LIST}/${id}/enable`);
    const again = readHtml((await dashboard.open(WEBHOOK_LIST)).text);
    expect(again.texts(".notice.t-major")).toEqual([]);
  });

  test("the screen of a webhook says why every attempt fails and what to do, until one succeeds", async () => {
    let status = 500;
    await using receiver = startReceiver(() => status);
    await using site = await createDeliverySite();
    await using dashboard = await createWebhookDashboard({ app: site.app });
    const { id } = await site.endpoint(receiver.url);
    const open = async () => readHtml((await dashboard.open(`${WEBHOOK_LIST}/${id}`)).text);
    await site.recordEvents("cmp_1");
    await site.idle();
    const failing = await open();
    expect(failing.texts(".notice .strong")).toEqual(["This webhook is failing"]);
    const [reason] = failing.texts(".notice p:not(.strong)");
    expect(reason).toContain("The endpoint answered 500 Internal Server Error.");
    expect(reason).toContain("Check the log of the receiver.");
    expect(failing.attributes(".notice a", "href")).toEqual([`${WEBHOOK_LIST}/${id}/edit`]);
    status = 200;
    await site.pass(DAY / 24);
    expect((await open()).texts(".notice .strong")).toEqual([]);
  });

  test("the list of webhooks can be ordered by name and state, also in the next part", async () => {
    await using dashboard = await createWebhookDashboard();
    const key = await dashboard.app.keyWith("manage:webhooks");
    for (let index = 0; index < 51; index++) {
      const json = { url: PROGRAM, description: `Hook ${index}`, enabled: index !== 7 };
      await dashboard.app.call("/api/v1/webhooks", { method: "POST", key, json });
    }
    const open = async (path: string) => readHtml((await dashboard.open(path)).text);
    const first = await open(`${WEBHOOK_LIST}?sort=name`);
    expect(first.texts(".row-link").slice(8, 11)).toEqual(["Hook 8", "Hook 9", "Hook 10"]);
    expect(first.attributes("th[aria-sort]", "aria-sort")).toEqual(["ascending"]);
    const [next = ""] = first.attributes(".pagination a", "href");
    const second = await open(next);
    expect(second.texts(".row-link")).toEqual(["Hook 50"]);
    expect(second.attributes(".pagination a", "href")).toEqual([`${WEBHOOK_LIST}?sort=name`]);
    const worst = await open(`${WEBHOOK_LIST}?sort=-state`);
    expect(worst.texts(".row-link").slice(0, 2)).toEqual(["Hook 7", "Hook 50"]);
  });

  test("the list of webhooks is paginated by fifty, each shown once", async () => {
    await using dashboard = await createWebhookDashboard();
    const key = await dashboard.app.keyWith("manage:webhooks");
    const make = (description: string) =>
      dashboard.app.call("/api/v1/webhooks", {
        method: "POST",
        key,
        json: { url: PROGRAM, description },
      });
    await Promise.all(Array.from({ length: 51 }, (_, index) => make(`Hook ${index}`)));
    const first = readHtml((await dashboard.open(WEBHOOK_LIST)).text);
    const [older = ""] = first.attributes(".pagination a", "href");
    const second = readHtml((await dashboard.open(older)).text);
    const names = [...first.texts(".row-link"), ...second.texts(".row-link")];
    expect([first.texts(".row-link").length, new Set(names).size]).toEqual([50, 51]);
    expect(second.attributes(".pagination a", "href")).toEqual([WEBHOOK_LIST]);
  });
});
