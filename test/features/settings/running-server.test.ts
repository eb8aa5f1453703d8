import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { setPublicAddress } from "../../../src/features/settings/settings";
import { openForCommand } from "../../../src/installation";
import { CLI_ACTOR } from "../../../src/base/actor";
import { testConfig } from "../../support/app";
import {
  createInstallation,
  holds,
  type Installation,
  PROCESS_TEST_MS,
  type Server,
} from "../../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

const ADDRESS = "https://status.acme.test";
const WARNING = "no public address is set";

/** Lets a test ask more often than a stranger may; and listens where others could come from. */
const EVERYWHERE = { args: ["--public-rate-limit", "10000", "--listen", "0.0.0.0:0"] };

/** Sets the public address from this process while the server runs. */
async function setFromCommand(site: Installation, address: string): Promise<void> {
  const env = { ALLCLEAR_DATA_DIR: site.dataDir, ALLCLEAR_LOG_LEVEL: "silent" };
  const { ctx, close } = openForCommand(testConfig(env), "test", { canCreate: false });
  await ctx.db.write((tx) => setPublicAddress(ctx, tx, address, CLI_ACTOR));
  close();
}

async function pageUrl(server: Server, key: string): Promise<string> {
  const answer = await server.fetch("/api/v1/status/acme", { key });
  return ((await answer.json()) as { page: { url: string } }).page.url;
}

describe("the public address of a running server", () => {
  test("a running server soon uses a public address set by another process", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const { value } = await site.createKey(["read:status"]);
    const server = await site.serve(EVERYWHERE);
    expect(await pageUrl(server, value)).toBe(`http://localhost:${server.port}/status/acme`);
    expect(server.stderr()).toContain(WARNING);

    await setFromCommand(site, ADDRESS);
    const isFollowed = async () => (await pageUrl(server, value)) === `${ADDRESS}/status/acme`;
    expect(await holds(isFollowed)).toBe(true);
    await server.stop();

    const next = await site.serve(EVERYWHERE);
    expect(await pageUrl(next, value)).toBe(`${ADDRESS}/status/acme`);
    expect(next.stderr()).not.toContain(WARNING);
  });

  test("a running server with --base-url ignores the stored public address", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const { value } = await site.createKey(["read:status"]);
    await setFromCommand(site, ADDRESS);
    const args = [...EVERYWHERE.args, "--base-url", "https://flag.acme.test"];
    const server = await site.serve({ args });
    expect(await pageUrl(server, value)).toBe("https://flag.acme.test/status/acme");
    expect(server.stderr()).not.toContain(WARNING);
  });
});
