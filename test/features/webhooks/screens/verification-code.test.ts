import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { readHtml } from "../../../support/html";
import { temporaryFolder } from "../../../support/temporary-folder";
import { createWebhookDashboard, revealedSecret } from "../../../support/webhook-dashboard";

const BODY = JSON.stringify({ type: "incident.created", data: { name: "It's down" } });

/** The two programs on the page that shows a secret, as a browser copies them. */
async function snippets() {
  await using dashboard = await createWebhookDashboard();
  const answer = await dashboard.create();
  const secret = revealedSecret(answer);
  // Line ends count here.
  const blocks: string[] = [];
  new HTMLRewriter()
    .on("[data-secret=text]", {
      element: () => void blocks.push(""),
      text: ({ text }) => void blocks.push((blocks.pop() ?? "") + text),
    })
    .transform(answer.text);
  const [shell = "", javaScript = ""] = blocks.map(
    (block) =>
      readHtml(`<p title="${block.replaceAll('"', "&quot;")}">`).attributes("p", "title")[0],
  );
  return { secret, shell, javaScript };
}

async function run(shell: string): Promise<{ exitCode: number; out: string }> {
  const child = Bun.spawn(["sh", "-c", shell], { stdout: "pipe", stderr: "inherit" });
  const out = await new Response(child.stdout).text();
  return { exitCode: await child.exited, out: out.trim() };
}

describe.if(Bun.which("openssl") !== null)("the shell program that verifies a signature", () => {
  test("the shell program verifies its own example unchanged", async () => {
    const { shell } = await snippets();
    expect(await run(shell)).toEqual({ exitCode: 0, out: "The signature is valid." });
  });

  test("the shell program accepts a message signed by the published library and rejects a changed one", async () => {
    const { secret, shell } = await snippets();
    const at = new Date(1_773_144_000_000);
    const signature = new Webhook(secret).sign("evt_1", at, BODY);
    const escaped = BODY.replaceAll("'", `'\\''`);
    const arrived = shell
      .replace(/^id=.*$/m, () => `id='evt_1' timestamp='1773144000'`)
      .replace(/^signature=.*$/m, () => `signature='v1,AAAA ${signature}'`)
      .replace(/^body=.*$/m, () => `body='${escaped}'`);
    expect((await run(arrived)).out).toBe("The signature is valid.");
    const changed = await run(arrived.replace("s down", "s up"));
    expect(changed).toEqual({ exitCode: 1, out: "The signature is not valid." });
  });
});

describe("the JavaScript program that verifies a signature", () => {
  test("the JavaScript program accepts a signed message and rejects a changed one", async () => {
    const { secret, javaScript } = await snippets();
    // Beside the library, and on a port that is free.
    using folder = temporaryFolder();
    symlinkSync(
      join(import.meta.dir, "../../../../node_modules"),
      join(folder.path, "node_modules"),
    );
    const file = join(folder.path, "receiver.mjs");
    const listening = "listen(0, '127.0.0.1', function () { console.log(this.address().port) });";
    await Bun.write(file, javaScript.replace("listen(3000);", listening));
    const child = Bun.spawn([process.execPath, file], { stdout: "pipe", stderr: "inherit" });
    try {
      const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
      const url = `http://127.0.0.1:${(await lines.read()).value?.trim()}/`;
      const at = new Date();
      const headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
        "webhook-signature": new Webhook(secret).sign("evt_1", at, BODY),
      };
      const send = (body: string) => fetch(url, { method: "POST", headers, body });
      expect((await send(BODY)).status).toBe(204);
      expect((await lines.read()).value).toContain("incident.created");
      expect((await send(BODY.replace("down", "up"))).status).toBe(401);
    } finally {
      child.kill();
      await child.exited;
    }
  });
});
