import { expect, test } from "bun:test";
import { openAlertSite } from "../../../support/alert-reports";
import { readHtml, typedIn } from "../../../support/html";
import { formOf, NEW_MONITOR } from "../../../support/monitor-dashboard";

test("“Load components” lists the components of a page with checkboxes, of which the chosen ones are saved", async () => {
  await using site = await openAlertSite();
  const names = ["API", "DNS", "<b>Web</b>"];
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      Response.json({
        status: { indicator: "minor", description: "Partly degraded" },
        components: names.map((name) => ({ id: name, name, status: "operational" })),
      }),
  });
  const session = await site.app.signedIn("admin");
  const path = `${NEW_MONITOR}?type=upstream`;
  const { text } = await site.app.call(path, { session });
  const form = {
    ...formOf(text),
    name: "Provider",
    config_url: `http://127.0.0.1:${server.port}/`,
    config_components: "DNS\nOther",
  };
  const send = (fields: Record<string, string | readonly string[]>) =>
    site.app.call(NEW_MONITOR, { method: "POST", session, form: fields });
  const loaded = await send({ ...form, intent: "check" });
  expect(loaded.status).toBe(200);
  expect(loaded.text).not.toContain("<b>Web");
  const boxes = readHtml(loaded.text).controls.filter(
    ({ name }) => name === "config_components_chosen",
  );
  expect(boxes.map(({ value, isChecked }) => [value, isChecked])).toEqual([
    ["API", false],
    ["DNS", true],
    ["<b>Web</b>", false],
  ]);
  expect(formOf(loaded.text)["config_components"]).toEqual(["Other"]);
  expect(readHtml(loaded.text).texts('[role="status"]').join(" ")).toContain(
    "The page has no component “Other”.",
  );
  const saved = await send({
    ...formOf(loaded.text),
    config_components: "",
    config_components_chosen: ["API", "<b>Web</b>"],
  });
  expect(saved.status).toBe(303);
  const [monitor] = (await site.app.call("/api/v1/monitors", { key: site.key })).body.data;
  expect(monitor.config).toMatchObject({ components: ["API", "<b>Web</b>"], format: "auto" });
  expect(typedIn(loaded.text, "config_url")).toEqual([form.config_url]);
});
