import { expect, test } from "bun:test";
import { describeGallery, type Look } from "../gallery/describe-gallery";

const PHONE = { width: 390, height: 844 };

describeGallery("every component in a browser", (gallery) => {
  // A theme changes colours only, and the width of a tablet no colour.
  test.each<{ name: string; look: Look; contrast?: "only" | "none" }>([
    { name: "wide and light", look: { colorScheme: "light" } },
    { name: "wide and dark", look: { colorScheme: "dark" }, contrast: "only" },
    { name: "on a tablet", look: { viewport: { width: 820, height: 1180 } }, contrast: "none" },
    { name: "on a phone", look: { viewport: PHONE } },
    {
      name: "on a phone in the dark",
      look: { viewport: PHONE, colorScheme: "dark" },
      contrast: "only",
    },
    { name: "in forced colours", look: { forcedColors: "active" }, contrast: "only" },
    { name: "with more contrast", look: { contrast: "more" }, contrast: "only" },
  ])(
    "the gallery has no axe violations, no console errors and fits the window: $name",
    async ({ look, contrast }) => {
      const page = await gallery().open(look);
      expect(await gallery().axe(page, contrast)).toEqual([]);
      expect(gallery().errors).toEqual([]);
      const isTooWide = await page.evaluate(
        () => document.documentElement.scrollWidth > innerWidth,
      );
      expect(isTooWide).toBe(false);
      await page.context().close();
    },
    600_000,
  );

  test("controls are at least 44 pixels high on a phone", async () => {
    const page = await gallery().open({ viewport: PHONE });
    const low = await page.evaluate(() =>
      [...document.querySelectorAll(".button, .input, .choice label, .option, .menu a, .tabs a")]
        .filter((element) => element.checkVisibility() && element.clientHeight > 0)
        .filter((element) => element.getBoundingClientRect().height < 43.5)
        .map((element) => element.outerHTML),
    );
    expect(low).toEqual([]);
    await page.context().close();
  }, 600_000);

  test("nothing is animated with reduced motion", async () => {
    const page = await gallery().open({ reducedMotion: "reduce" });
    const moving = await page.evaluate(() => document.getAnimations().length);
    expect(moving).toBe(0);
    await page.context().close();
  }, 600_000);

  test("on a phone the navigation is behind a button, with and without JavaScript", async () => {
    for (const javaScriptEnabled of [true, false]) {
      const page = await gallery().open({ viewport: PHONE, javaScriptEnabled });
      const link = page.getByRole("link", { name: "API Keys" });
      expect(await link.isVisible()).toBe(false);
      await page.getByRole("button", { name: "More" }).click();
      expect(await link.isVisible()).toBe(true);
      await page.keyboard.press("Escape");
      expect(await link.isVisible()).toBe(false);
      await page.context().close();
    }
  }, 600_000);

  test("without JavaScript, buttons that need it are hidden and a dialog opens as a page", async () => {
    const page = await gallery().open({ javaScriptEnabled: false });
    for (const name of ["Copy key", "Copy", "Test key"]) {
      expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
    }
    expect(await page.getByText("What this key can do").isVisible()).toBe(false);
    await page.getByRole("link", { name: "Open the dialog" }).click();
    expect(gallery().requests).toEqual(["GET /gallery"]);
    expect(page.url()).toEndWith("/gallery#dialog");
    await page.context().close();
  }, 600_000);
});
