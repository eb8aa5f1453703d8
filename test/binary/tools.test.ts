import { expect, test } from "bun:test";
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";
import { connect } from "../support/mcp";

test(
  "the executable answers the tools of AI agents, and not with --mcp off",
  async () => {
    await using installation = await createInstallation();
    await installation.createPage("acme", ["API"]);
    const { value } = await installation.createKey(["read:status", "write:incidents"]);
    const server = await installation.serve();
    const client = await connect(server.url, value);
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(6);
    const given = { page: "acme", name: "Down", body: "It is down." };
    const drafted = await client.callTool({ name: "draft_incident", arguments: given });
    expect(drafted.isError).toBeUndefined();
    const listed = await client.callTool({ name: "list_incidents" });
    expect(JSON.stringify(listed.content)).toContain("It is down.");
    await client.close();
    expect(server.stderr()).not.toContain(value);
    expect(await server.stop()).toBe(0);

    const closed = await installation.serve({ args: ["--mcp", "off"] });
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", key: value, headers, body: "{}" };
    expect((await closed.fetch("/mcp", init)).status).toBe(404);
    expect((await closed.fetch("/api/v1/status", { key: value })).status).toBe(200);
    await closed.stop();
  },
  PROCESS_TEST_MS,
);
