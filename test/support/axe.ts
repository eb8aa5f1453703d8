import type { Page } from "playwright-core";
import { listTextStyles, type TextStyles } from "./text-styles";
import axePath from "axe-core/axe.min.js" with { type: "file" };

const AXE_PATH = "/axe.min.js";

/**
 * Route of a test's server that sends axe-core. From the page's own origin the browser compiles it
 * once for many documents, and a Content-Security-Policy allows it.
 */
export const AXE_ROUTE = {
  [AXE_PATH]: () =>
    new Response(Bun.file(axePath), { headers: { "Cache-Control": "max-age=3600, immutable" } }),
};

/** Rules that compare colours, which a theme changes and the size of a window does not. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];
/** All others, with that for the size of targets, which is not among the usual ones. */
const OTHER_RULES = {
  ...Object.fromEntries(COLOUR_RULES.map((rule) => [rule, { enabled: false }])),
  "target-size": { enabled: true },
};

interface AxeResult {
  id: string;
  help: string;
  nodes: { target: string[]; element?: Element }[];
}

/** Scope of a page with axe-core. */
interface PageScope extends TextStyles {
  axe: {
    configure(options: object): void;
    run(
      context: object,
      options: object,
    ): Promise<{ violations: AxeResult[]; passes: AxeResult[] }>;
  };
}

/** Text styles without violations of the rules for colours, of all pages of this process so far. */
const passedStyles = new Set<string>();

/**
 * Returns the violations that axe-core finds on an open page, one per line. `contrast` limits it to
 * the rules for colours or to all other rules. For colours, it skips text in a style that has passed
 * before, since the same colours and sizes have the same contrast.
 */
export async function runAxe(page: Page, contrast?: "only" | "none"): Promise<string[]> {
  const violations = contrast === "only" ? [] : await checkPage(page, { rules: OTHER_RULES });
  if (contrast === "none") return violations;
  const styles = await page.evaluate(listTextStyles);
  const untested = styles.filter((style) => !passedStyles.has(style));
  if (untested.length === 0) return violations;
  return [...violations, ...(await checkPage(page, { runOnly: COLOUR_RULES }, untested))];
}

/**
 * Returns the violations on an open page, found on a copy of its HTML without scripts, which it shows in another window:
 * axe-core cannot run without JavaScript.
 */
export async function runAxeOnCopy(page: Page, copy: Page): Promise<string[]> {
  await copy.setContent((await page.content()).replaceAll(/<script[^>]*><\/script>/g, ""));
  return runAxe(copy);
}

/** Runs axe-core on a page, or only on the elements with these text styles. */
async function checkPage(page: Page, choice: object, styles?: string[]): Promise<string[]> {
  const isThere = await page.evaluate(() => "axe" in globalThis);
  if (!isThere) await page.addScriptTag({ url: new URL(AXE_PATH, page.url()).href });
  const { violations, passed } = await page.evaluate(
    async ({ choice, styles }) => {
      const { axe, textStyles } = globalThis as unknown as PageScope;
      // Otherwise it writes the HTML of every element that it looks at.
      axe.configure({ noHtml: true });
      const options = {
        // Without this option it also describes every element that passes.
        resultTypes: styles ? ["violations", "passes"] : ["violations"],
        elementRef: styles !== undefined,
        // Only rules for sounds and for experimental ones read style sheets and media.
        preload: false,
        ...choice,
      };
      const elements = styles?.flatMap((style) => textStyles.get(style) ?? []);
      const { violations, passes } = await axe.run(elements ?? document, options);
      const tested = passes.find(({ id }) => id === "color-contrast")?.nodes ?? [];
      const passed = new Set(tested.map(({ element }) => element));
      return {
        violations: violations.map(
          ({ id, help, nodes }) =>
            `${id}: ${help} (${nodes.map(({ target }) => target).join(", ")})`,
        ),
        // A text that axe-core skips, such as that of a disabled button, says nothing about others.
        passed: styles?.filter((style) => textStyles.get(style)?.some((one) => passed.has(one))),
      };
    },
    { choice, styles },
  );
  for (const style of passed ?? []) passedStyles.add(style);
  return violations;
}
