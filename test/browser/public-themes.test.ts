import { test } from "bun:test";
import {
  ALL_DOCUMENTS_MS,
  describePublicDocuments,
  expectAccessible,
  type Theme,
} from "../support/public-documents";

const THEMES: readonly Theme[] = [
  { colorScheme: "dark" },
  { forcedColors: "active" },
  { contrast: "more", colorScheme: "dark" },
];

describePublicDocuments("public documents in each theme", (site, documents) => {
  test(
    "public documents have no axe violations or console errors and fit the window in each theme",
    async () => {
      await expectAccessible(site(), Object.values(await documents()), {}, THEMES);
    },
    ALL_DOCUMENTS_MS,
  );
});
