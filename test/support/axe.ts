import type { Page } from "playwright-core";
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
const WITHOUT_COLOURS = Object.fromEntries(COLOUR_RULES.map((rule) => [rule, { enabled: false }]));

interface AxeViolation {
  id: string;
  help: string;
  nodes: { target: string[] }[];
}

/**
 * Returns the violations that axe-core finds on an open page, one per line. `contrast` limits it to
 * the rules for colours or to all other rules.
 */
export async function runAxe(page: Page, contrast?: "only" | "none"): Promise<string[]> {
  const isThere = await page.evaluate(() => "axe" in globalThis);
  if (!isThere) await page.addScriptTag({ url: new URL(AXE_PATH, page.url()).href });
  const choice = {
    ...(contrast === "only" && { runOnly: COLOUR_RULES }),
    ...(contrast === "none" && { rules: WITHOUT_COLOURS }),
  };
  const violations = await page.evaluate(async (rules) => {
    const { axe } = globalThis as unknown as {
      axe: {
        configure(options: object): void;
        run(options: object): Promise<{ violations: AxeViolation[] }>;
      };
    };
    // Otherwise it writes the HTML of every element that it looks at.
    axe.configure({ noHtml: true });
    const options = {
      // Without this option it also describes every element that passes.
      resultTypes: ["violations"],
      // Only rules for sounds and for experimental ones read style sheets and media.
      preload: false,
      ...rules,
    };
    return (await axe.run(options)).violations;
  }, choice);
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ target }) => target).join(", ")})`,
  );
}
