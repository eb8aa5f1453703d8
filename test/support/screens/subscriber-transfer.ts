import { inDemoData, type Screen, send } from "./screen";

const SUBSCRIBERS = "/admin/subscribers";

const FILE = [
  "email,components,groups,events",
  "ada@example.com,,,incidents;maintenance",
  "grace@example.com,checkout",
  "not an address",
  "ada@example.com",
].join("\n");

/** Checks a file, which changes nothing. */
const checkFile: Screen["reach"] = async (page) => {
  const buffer = Buffer.from(FILE);
  const file = { name: "subscribers.csv", mimeType: "text/csv", buffer };
  await page.getByLabel("File", { exact: true }).setInputFiles(file);
  await page.getByLabel("They have agreed already").check();
  await page.getByLabel("How they agreed").fill("Agreed in the customer portal, 2 March 2026");
  await send(page, "Only check the file");
};

/** Import, export and erasure of subscribers. */
export const SUBSCRIBER_TRANSFER_SCREENS: readonly Screen[] = [
  { name: "subscriber-import", open: inDemoData(() => `${SUBSCRIBERS}/import`) },
  {
    name: "subscriber-import-checked",
    open: inDemoData(() => `${SUBSCRIBERS}/import`),
    reach: checkFile,
  },
  {
    name: "subscriber-import-errors",
    status: 422,
    open: inDemoData(() => `${SUBSCRIBERS}/import`),
    reach: (page) => send(page, "Only check the file"),
  },
  { name: "subscriber-export", open: inDemoData(() => `${SUBSCRIBERS}/export`) },
  { name: "subscriber-erase", open: inDemoData(() => `${SUBSCRIBERS}/erase`) },
];
