import { describe, expect, test } from "bun:test";
import { exportFile, writeApplyFile } from "../../../src/features/apply/apply";
import { listAllWebhooks } from "../../../src/features/webhooks/store";
import { HOUR_MS } from "../../../src/base/time";
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

  test("are all created beyond the limit of questions to their addresses, which are put off", async () => {
    await using app = await createTestApp({ env: RELAY });
    const entries = Array.from(
      { length: 125 },
      (_, nth) => `  - { ref: w${nth}, format: email, url: "mailto:p${nth}@example.com" }\n`,
    );
    const text = `pages: []\nwebhooks:\n${entries.join("")}`;
    const outcome = await applyWith(app, text, false, {});
    expect(linesOf(outcome)).toHaveLength(125);
    expect(listAllWebhooks(app.ctx.db, {})).toHaveLength(125);
    const now = app.clock.now();
    expect(outcome.unconfirmed.map(({ webhook }) => webhook)).toEqual(
      entries.map((_, nth) => `w${nth}`),
    );
    const questions = outcome.unconfirmed.map(({ question }) => question);
    expect(questions.slice(19, 21)).toEqual([
      { state: "waiting", dueAt: now },
      { state: "waiting", dueAt: now + HOUR_MS },
    ]);
    expect(questions.slice(119)).toEqual([
      { state: "waiting", dueAt: now + 24 * HOUR_MS },
      ...Array(5).fill({ state: "unasked" }),
    ]);
    // The same file says so again, and asks no address twice.
    const again = await applyWith(app, text, false, {});
    expect([again.changes, again.unconfirmed]).toEqual([[], outcome.unconfirmed]);
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
