import { describe, expect, test } from "bun:test";
import {
  blanked,
  secretsIn,
  withoutBeginning,
} from "../../../../src/features/webhooks/deliver/message";
import { createDeliverySite } from "../../../support/delivery-site";
import { startReceiver } from "../../../support/receiver";

const SIGNATURE = "k7Jx-9aQ/zW0+t3";
const TEAMS =
  `https://prod-00.westus.logic.azure.com/workflows/0a1b2c3d4e5f/triggers/manual/paths/invoke` +
  `?api-version=1&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=${encodeURIComponent(SIGNATURE)}`;
const SLACK = "https://hooks.slack.com/services/T00000000/B00000000/quite-private-end";

const secretsOf = (url: string, format: "teams" | "slack" | "telegram", settings = {}) =>
  secretsIn({ url, format, settings });

describe("secret parts of a URL in a receiver's answer", () => {
  test.each([
    ["as it was called", encodeURIComponent(SIGNATURE)],
    ["decoded", SIGNATURE],
    ["as some write JSON", SIGNATURE.replaceAll("/", "\\/")],
    ["as a form decodes it", SIGNATURE.replaceAll("+", " ")],
  ])("a secret value of a query is blanked in an answer, %s", (_how, spelled) => {
    // Called as it is written: the plus sign is one.
    const url = TEAMS.replace("%2B", "+");
    const secrets = [...secretsOf(TEAMS, "teams"), ...secretsOf(url, "teams")];
    const shown = blanked(`The signature "${spelled}" has expired.`, secrets);
    expect(shown).toBe('The signature "…" has expired.');
  });

  test("secret parts of a path are blanked in an answer, together and separately", () => {
    const secrets = secretsOf(SLACK, "slack");
    expect(blanked("no quite-private-end in B00000000", secrets)).toBe("no … in …");
    expect(blanked("T00000000/B00000000/quite-private-end", secrets)).toBe("…");
    expect(blanked("T00000000\\/B00000000\\/quite-private-end", secrets)).toBe("…");
  });

  test("common words of a path or query are not blanked in an answer", () => {
    const text = '{"error":"no triggers in workflows, invoke it by manual paths","sv":"1.0","v":1}';
    expect(blanked(text, secretsOf(TEAMS, "teams"))).toBe(text);
  });

  test("a token is blanked in an answer, escaped or not", () => {
    const token = "123456:ABC-DEF1234ghIkl";
    const settings = { bot_token: token, chat_id: "@acme" };
    const secrets = secretsOf("https://api.telegram.org", "telegram", settings);
    for (const spelled of [token, encodeURIComponent(token)]) {
      expect(blanked(`/bot${spelled}/sendMessage to @acme`, secrets)).toBe(
        "/bot…/sendMessage to @acme",
      );
    }
  });

  test("the beginning of a secret at the end of a truncated answer is removed", () => {
    const secrets = secretsOf(SLACK, "slack");
    expect(withoutBeginning("called by quite-priv", secrets)).toBe("called by …");
    expect(withoutBeginning("called by nobody", secrets)).toBe("called by nobody");
  });
});

describe("answers in the log of deliveries", () => {
  test("a stored answer contains no secret of the URL's query, even if it is truncated", async () => {
    const filler = "x".repeat(20 * 1_024 - 6);
    await using receiver = startReceiver((_message, count) =>
      count === 1
        ? new Response(`bad sig q1u2i3t4e5`)
        : new Response(`${filler}q1u2i3t4e5 and more`),
    );
    await using site = await createDeliverySite();
    await site.endpoint(`${receiver.url}?sig=q1u2i3t4e5`, { format: "teams" });
    const event = { type: "incident.created", data: { name: "A" } } as const;
    await site.recordEvents(event);
    await site.idle();
    await site.recordEvents(event);
    await site.idle();
    const answers = site.tries().map(({ answer }) => answer);
    expect(answers).toEqual(["bad sig …", `${filler}…`]);
  });

  test("a stored answer contains no terminal escapes or bidirectional overrides", async () => {
    await using receiver = startReceiver(
      () => new Response("\u001b[31mred\u001b[0m \u009b2J\u202etxt.exe\r\nnext\tone"),
    );
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    await site.idle();
    expect(site.tries()[0]?.answer).toBe("[31mred[0m 2Jtxt.exe\nnext\tone");
  });
});
