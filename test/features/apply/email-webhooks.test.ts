import { describe, expect, test } from "bun:test";
import { exportFile, writeApplyFile } from "../../../src/features/apply";
import { listAllWebhooks } from "../../../src/features/webhooks";
import { createTestApp } from "../../support/app";
import { apply as applyWith, linesOf } from "../../support/apply";

const RELAY = { ALLCLEAR_SMTP_HOST: "relay.example", ALLCLEAR_MAIL_FROM: "status@example.com" };

const FILE = `
pages: []
webhooks:
  - ref: on-call
    format: email
    url: mailto:OnCall@EXAMPLE.com
    events: [incident.created]
`;

describe("webhooks for e-mail in a file", () => {
  test("are created without a secret, exported, and unchanged by the same file", async () => {
    await using app = await createTestApp({ env: RELAY });
    const lines = async (text: string) => linesOf(await applyWith(app, text, false, {}));
    expect((await lines(FILE)).filter((line) => line.includes("webhook"))).toEqual([
      "+ webhook on-call",
    ]);
    const [row] = listAllWebhooks(app.ctx.db, {});
    expect(row).toMatchObject({ url: "mailto:OnCall@example.com", confirmedAt: null });
    const exported = writeApplyFile(exportFile(app.ctx.db), []);
    expect(exported).toContain("mailto:OnCall@example.com");
    expect(exported).not.toContain("secret");
    for (const text of [FILE, exported]) {
      const changes = (await lines(text)).filter((line) => line.includes("webhook"));
      expect(changes).toEqual([]);
    }
    expect(listAllWebhooks(app.ctx.db, {})[0]?.version).toBe(1);
  });

  test("are rejected while mail is not ready", async () => {
    await using app = await createTestApp();
    const outcome = applyWith(app, FILE, false, {});
    expect(String(await outcome.catch((error: unknown) => JSON.stringify(error)))).toContain(
      "needs mail, which needs an SMTP relay and a sender first",
    );
    expect(listAllWebhooks(app.ctx.db, {})).toEqual([]);
  });
});
