import type { Page } from "playwright-core";
import { IMPORT_SOURCES } from "../../../src/imports/sources";
import { answerOf, HEALTHCHECKS, IMPORTS } from "../import-dashboard";
import { checkOf, UUIDS } from "../import-site";
import { inDemoData, inEmpty, openDialog, type Screen, send } from "./screen";

const [FIRST, SECOND, THIRD] = UUIDS;

/** Checks with each of several results, and a name with markup. */
const FILE = answerOf(
  checkOf(FIRST, { desc: "Copies everything", methods: "POST" }),
  checkOf(SECOND, { name: "Weekly <b>report</b>", grace: "soon" }),
  checkOf(THIRD, {
    name: "Sync of the warehouse",
    schedule: "Mon *-*-* 04:00",
    timeout: undefined,
  }),
  {
    ...checkOf("0b2f1c0a-5f7e-4d1b-9a55-0f4be2a6a002", { name: "Certificates" }),
    next_feature: true,
  },
);

async function choose(page: Page, content = FILE): Promise<void> {
  const file = { name: "checks.json", mimeType: "application/json", buffer: Buffer.from(content) };
  await page.getByLabel("File", { exact: true }).setInputFiles(file);
}

const plan = async (page: Page) => {
  await choose(page);
  await page.getByLabel("Create everything paused").check();
  await send(page, "Show plan");
};

const importAll = async (page: Page) => {
  await plan(page);
  await send(page, "Import");
};

const inForm = inDemoData(() => HEALTHCHECKS);
const inEmptyForm: Screen["open"] = ({ empty }) => inEmpty(empty, HEALTHCHECKS);

/** Imports from other products. Those that write are in the empty installation. */
export const IMPORT_SCREENS: readonly Screen[] = [
  { name: "import-none", open: ({ empty }) => inEmpty(empty, IMPORTS) },
  ...IMPORT_SOURCES.map(({ kind }) => ({
    name: `import-form-${kind}`,
    open: inDemoData(() => `${IMPORTS}/from/${kind}`),
  })),
  {
    name: "import-form-errors",
    status: 422,
    open: inForm,
    async reach(page) {
      await page.locator(".fold > summary").click();
      await page.getByLabel("Name of the source").fill("Mine!");
      await send(page, "Show plan");
    },
  },
  {
    name: "import-unreadable",
    status: 422,
    open: inForm,
    async reach(page) {
      await choose(page, "{");
      await send(page, "Show plan");
    },
  },
  { name: "import-plan", open: inForm, reach: plan },
  {
    name: "import-plan-filtered",
    open: inForm,
    async reach(page) {
      await plan(page);
      await page.locator("#import-verdicts").getByText("Held").click();
      await page.waitForURL(/verdict=held/);
    },
  },
  { name: "import-no-plan", status: 404, open: inDemoData(() => `${IMPORTS}/plans/1`) },
  { name: "import-report", open: inEmptyForm, reach: importAll },
  {
    name: "import-start",
    isOverlay: true,
    open: ({ empty }) => inEmpty(empty, IMPORTS),
    async reach(page) {
      await page.locator("#import-list .row-link").first().click();
      await openDialog(page, "Start 3 objects");
    },
  },
  { name: "import-unchanged", open: inEmptyForm, reach: plan },
  { name: "imports", open: ({ empty }) => inEmpty(empty, IMPORTS) },
];
