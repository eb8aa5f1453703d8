import { test } from "bun:test";
import type { VisitOptions } from "../support/browser-site";
import {
  ALL_DOCUMENTS_MS,
  describePublicDocuments,
  expectAccessible,
} from "../support/public-documents";

describePublicDocuments("public documents in each theme", (site, documents) => {
  test.each<{ name: string; look: VisitOptions }>([
    { name: "light", look: { colorScheme: "light" } },
    { name: "dark", look: { colorScheme: "dark" } },
    { name: "in forced colours", look: { forcedColors: "active" } },
    { name: "with more contrast, dark", look: { contrast: "more", colorScheme: "dark" } },
  ])(
    "public documents have no axe violations or console errors and fit the window: $name",
    async ({ look }) => {
      for (const path of Object.values(await documents())) {
        await expectAccessible(site(), path, look);
      }
    },
    ALL_DOCUMENTS_MS,
  );
});
