import { expect, test } from "bun:test";
import { wordsOf } from "../../src/languages/words";
import { confirmationLetter } from "../../src/features/subscribers/mails";
import { momentsOf, renderLetter, renderPlace } from "../../src/features/mail/letter";
import { incidentLetter, MANAGE_PLACE, manageBlocks } from "../../src/features/mailings/letters";
import {
  connectedLetter,
  expiringKeysLetter,
  invitationLetter,
  passwordChangedLetter,
  recoveredLetter,
  resetLetter,
} from "../../src/features/users/letters";
import type { RecordedEvent } from "../../src/events/outbox";
import { footerOfAlert } from "../../src/features/webhooks/alerts/templates";
import { alertLetter } from "../../src/features/webhooks/formats/email";
import { buildNotification } from "../../src/features/webhooks/formats/notification";
import { contextFor, incidentEvent } from "../support/webhook-formats";
import { AXE_ROUTE, runAxe } from "../support/axe";
import { describeWithBrowser } from "../support/browser";

const AT = Date.UTC(2026, 10, 22, 14, 32);
const LONG = "Unbreakable".repeat(30);
const BODY = `# Heading\n\nA **text** with [a link](https://example.com/x) and ${LONG}.\n\n- one\n- two\n\n> Quote\n\n\`code\`\n\n\`\`\`\n${LONG}\n\`\`\`\n\n---`;

/** Returns the HTML of a mail about an incident, as a recipient gets it. */
function incidentHtml(locale: string, name: string): string {
  const words = wordsOf(locale);
  const page = { name: "Northwind", words, footer: "Harbour Road 1\nBristol" };
  const facts = {
    name,
    status: "identified" as const,
    impact: "major" as const,
    postmortem: undefined,
    update: { status: "identified" as const, body: BODY, at: AT },
    earlier: [{ status: "investigating" as const, body: "We look into it.", at: AT }],
    url: "https://status.example.com/status/northwind/incidents/inc_1",
    components: [
      { name: "API", status: "partial_outage" as const },
      { name: LONG, status: "degraded_performance" as const },
      { name: "Search", status: "under_maintenance" as const },
    ],
  };
  const moments = momentsOf({ locale, timeZone: "Europe/Berlin" });
  const { html } = renderLetter(incidentLetter(page, facts, moments));
  const place = renderPlace(manageBlocks(page, "https://status.example.com/mail/manage/x"), words);
  return html.replace(`\u0001${MANAGE_PLACE}\u0001`, place.html);
}

const SIGN_UP = renderLetter(
  confirmationLetter(
    {
      words: wordsOf("en"),
      page: { name: "Northwind", footer: null },
      targets: ["API", LONG],
      events: ["incidents"],
    },
    { confirm: `https://status.example.com/${LONG}`, decline: "https://status.example.com/d" },
  ),
).html;

const ACCOUNT_FACTS = {
  email: `${LONG}@example.com`,
  publicAddress: "https://status.example.com",
  url: `https://status.example.com/admin/join/${LONG}`,
};

const accountHtml = ({ letter }: ReturnType<typeof resetLetter>) => renderLetter(letter).html;

/** Returns the HTML of an alert. */
function alertHtml(event: RecordedEvent, pageName: string): string {
  const context = { ...contextFor("email"), pageName };
  const notification = buildNotification(event, context);
  if (!notification) throw new Error("there is no notification");
  const footer = footerOfAlert("https://status.example.com", {
    id: "whk_1",
    description: `On-call ${LONG}`,
    format: "email",
    url: "mailto:oncall@example.com",
    ref: "on-call",
  });
  return renderLetter({ ...alertLetter(event, notification, context), footer }).html;
}

const MONITOR_DOWN: RecordedEvent = {
  ...incidentEvent("Checkout", ""),
  type: "monitor.down",
  data: {
    name: "Checkout API",
    state_since: "2026-03-10T11:58:00.000Z",
    last_check: { message: `The status is 503; it should be 200 at ${LONG}.` },
    components: [{ id: "cmp_1", name: "Checkout", status: "major_outage" }],
  },
};

const LETTERS: Record<string, string> = {
  alert: alertHtml(incidentEvent(`Payments fail ${LONG}`, BODY), "Northwind"),
  monitor: alertHtml(MONITOR_DOWN, LONG),
  invitation: accountHtml(invitationLetter({ ...ACCOUNT_FACTS, by: LONG, role: "editor" })),
  reset: accountHtml(resetLetter(ACCOUNT_FACTS)),
  "changed password": accountHtml(
    passwordChangedLetter({
      ...ACCOUNT_FACTS,
      by: "link",
      at: AT,
      timeZone: "America/Argentina/ComodRivadavia",
      resetUrl: ACCOUNT_FACTS.url,
    }),
  ),
  connected: accountHtml(
    connectedLetter({
      ...ACCOUNT_FACTS,
      system: LONG,
      label: LONG,
      at: AT,
      timeZone: "UTC",
      accountUrl: ACCOUNT_FACTS.url,
      hasPassword: true,
    }),
  ),
  recovered: accountHtml(
    recoveredLetter({
      ...ACCOUNT_FACTS,
      role: "owner",
      at: AT,
      timeZone: "UTC",
      identities: [{ label: LONG, system: ACCOUNT_FACTS.url }],
    }),
  ),
  "expiring keys": accountHtml(
    expiringKeysLetter({
      keys: [
        { name: "Deploy bot", expiresAt: AT },
        { name: LONG, expiresAt: AT },
      ],
      now: AT - 60_000,
      timeZone: "UTC",
      isCreator: false,
      keysUrl: ACCOUNT_FACTS.url,
      accountUrl: ACCOUNT_FACTS.url,
    }),
  ),
  incident: incidentHtml("en", `Payments fail ${LONG}`),
  arabic: incidentHtml("ar", "بطء في الدفع"),
  confirmation: SIGN_UP,
};

describeWithBrowser("the HTML part of mails", (browser) => {
  test.each(Object.keys(LETTERS))(
    "%s has no axe violations, fits phones and loads nothing, in both themes",
    async (name) => {
      const requests: string[] = [];
      using server = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        routes: AXE_ROUTE,
        fetch(request) {
          requests.push(new URL(request.url).pathname);
          const headers = { "Content-Type": "text/html;charset=utf-8" };
          return new Response(LETTERS[name], { headers });
        },
      });
      for (const colorScheme of ["light", "dark"] as const) {
        const context = await browser().newContext({
          colorScheme,
          viewport: { width: 320, height: 700 },
        });
        try {
          const page = await context.newPage();
          page.on("request", (request) => requests.push(request.url()));
          await page.goto(`${server.url}letter`);
          const width = await page.evaluate(() => document.documentElement.scrollWidth);
          expect(width).toBeLessThanOrEqual(320);
          const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
          expect(ground).toBe(colorScheme === "dark" ? "rgb(18, 18, 18)" : "rgb(255, 255, 255)");
          expect(await runAxe(page)).toEqual([]);
        } finally {
          await context.close();
        }
      }
      const foreign = requests.filter(
        (url) => !/(?:\/letter|\/axe\.min\.js|\/favicon\.ico)$/.test(url),
      );
      expect(foreign).toEqual([]);
    },
  );
});
