import type { TestApp } from "./app";

/** Values of all variables in the file below. */
export const WEBHOOK_ENV = {
  SIGNING: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
  SLACK_URL: "https://hooks.slack.com/services/T00000000/B00000000/quite-private-end",
  BOT_TOKEN: "123456:ABC-DEF1234ghIkl",
  NTFY_TOKEN: "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2",
};

/**
 * A configuration file with all kinds of webhooks: for programs, with a secret URL, with tokens.
 */
export const WEBHOOKS_FILE = `
pages:
  - { slug: acme, name: Acme, components: [{ name: API }] }
webhooks:
  - ref: deployments
    url: https://ci.example.com/hooks/allclear
    events: [incident.created, incident.resolved]
    page: acme
    secret: \${SIGNING}
  - description: Our chat
    format: slack
    url: \${SLACK_URL}
  - description: On call
    format: telegram
    url: https://api.telegram.org
    settings: { bot_token: "\${BOT_TOKEN}", chat_id: "@acme" }
    enabled: false
  - description: Phones
    format: ntfy
    url: https://ntfy.sh/acme-status
    settings: { token: "\${NTFY_TOKEN}" }
`;

/** Reads the webhooks from the API, oldest first. */
export async function readWebhooks(app: TestApp) {
  const key = await app.keyWith("manage:webhooks");
  const { body } = await app.call("/api/v1/webhooks", { key });
  return body.data.toReversed();
}
