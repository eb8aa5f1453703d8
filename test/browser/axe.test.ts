import { expect, test } from "bun:test";
import { describeInBrowser } from "../support/browser";

/** Text of the page's own colours, of which each case changes one thing that contrast depends on. */
const PLAIN = `<p style="color:#222;background:#fff;font-size:16px">Plain</p>`;

describeInBrowser("the test for contrast", (site) => {
  test.each([
    ["with a pale colour", `<p style="color:#999;background:#fff;font-size:16px">Bad</p>`],
    [
      "below the window",
      `<p style="margin-top:3000px;color:#222;background:#333;font-size:16px">Bad</p>`,
    ],
    [
      "below the window, with another element behind it",
      `<div style="position:relative;margin-top:3000px;height:60px">
        <div style="position:absolute;inset:0;background:#333"></div>
        <p style="position:absolute;margin:0;top:10px;color:#222;font-size:16px">Bad</p></div>`,
    ],
  ])("finds text %s, and passes the text that it saw before", async (_, bad) => {
    const { visit, axe } = site();
    const { page } = await visit("/docs/errors", { bypassCSP: true });
    await page.evaluate((html) => (document.body.innerHTML = html), PLAIN);
    expect(await axe(page, "only")).toEqual([]);
    await page.evaluate((html) => (document.body.innerHTML = html), PLAIN + bad);
    const violations = await axe(page, "only");
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain("color-contrast");
    await page.context().close();
  });
});
