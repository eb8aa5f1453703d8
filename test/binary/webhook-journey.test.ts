import { expect, setDefaultTimeout, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";
import { startReceiver } from "../support/receiver";

setDefaultTimeout(PROCESS_TEST_MS);

const SIGNING = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";

test("an incident reported by API is delivered to the program and the chat of a configuration file", async () => {
  await using program = startReceiver();
  await using chat = startReceiver();
  await using site = await createInstallation();
  const file = site.path("status.yaml");
  await Bun.write(
    file,
    `pages:
  - { slug: acme, name: Acme, components: [{ name: API }] }
webhooks:
  - { ref: program, url: "${program.url}", secret: "\${SIGNING}" }
  - { description: Our chat, format: discord, url: "\${CHAT}", events: [incident.created, incident.resolved] }
`,
  );
  const env = { ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8" };
  const applied = await site.run(["apply", file], { env: { ...env, SIGNING, CHAT: chat.url } });
  expect(applied.exitCode).toBe(0);
  const { value: key } = await site.createKey(["read:status", "write:incidents"]);
  const server = await site.serve({ env });
  const post = async (path: string, json: object) => {
    const answer = await server.fetch(`/api/v1/incidents${path}`, {
      method: "POST",
      key,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(json),
    });
    expect(answer.status).toBe(201);
    return (await answer.json()) as { id: string };
  };
  const { id } = await post("", { page: "acme", name: "Checkout fails", body: "Looking." });
  await Promise.all([program.until(1), chat.until(1)]);
  await post(`/${id}/updates`, { status: "resolved", body: "It works again." });
  await Promise.all([program.until(2), chat.until(2)]);
  expect(await server.stop()).toBe(0);

  const messages = program.received.map(({ body, headers }) =>
    new Webhook(SIGNING).verify(body, headers),
  );
  expect(messages).toMatchObject([
    { type: "incident.created", data: { id, status: "investigating" } },
    { type: "incident.resolved", data: { id, status: "resolved" } },
  ]);
  const embeds = chat.received.map(({ body }) => JSON.parse(body).embeds[0]);
  expect(embeds.map(({ title }: { title: string }) => title)).toEqual([
    expect.stringContaining("Checkout fails"),
    expect.stringContaining("Checkout fails"),
  ]);
  expect(embeds[1].description).toContain("It works again.");
  expect(chat.received.map((one) => one.id)).toEqual(program.received.map((one) => one.id));
});
