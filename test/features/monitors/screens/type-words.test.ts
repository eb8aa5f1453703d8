import { describe, expect, test } from "bun:test";
import { createTestApp } from "../../../support/app";
import type { Fields } from "../../../support/dashboard";
import { readHtml } from "../../../support/html";
import { createMonitorDashboard, NEW_MONITOR } from "../../../support/monitor-dashboard";

describe("the words on the forms of monitor types", () => {
  test("the form of a Docker container offers the server's Docker hosts, or says how to set one", async () => {
    const hosts = [undefined, "local=unix:///var/run/docker.sock,nas=tcp://10.0.0.5:2376"];
    const hints: (string | undefined)[] = [];
    for (const ALLCLEAR_DOCKER_HOSTS of hosts) {
      await using app = await createTestApp({ env: { ALLCLEAR_DOCKER_HOSTS } });
      const session = await app.signedIn("admin");
      const { text } = await app.call(`${NEW_MONITOR}?type=docker`, { session });
      hints.push(readHtml(text).texts("#field-config_host-hint")[0]);
      const offered = ALLCLEAR_DOCKER_HOSTS === undefined ? [] : ["local", "nas"];
      expect(readHtml(text).attributes("#field-config_host-list option", "value")).toEqual(offered);
      expect(text).not.toContain("10.0.0.5");
    }
    expect(hints).toEqual([
      expect.stringMatching(/^The server has no Docker hosts yet\. .* ALLCLEAR_DOCKER_HOSTS /),
      "Name of a host in the server's setting ALLCLEAR_DOCKER_HOSTS: local, nas.",
    ]);
  });

  test.each<[type: string, fields: Fields, errors: string[]]>([
    [
      "docker",
      { config_host: "local", config_container: "/web" },
      ["Container must begin with a letter or digit and have only letters, digits, _, . and -."],
    ],
    [
      "websocket",
      { config_url: "wss://shop.example.com/", config_subprotocols: "a b" },
      ["Subprotocols must have no spaces and no separators such as / and :."],
    ],
    [
      "smtp",
      {
        config_host: "mail.example.com",
        config_tls: "starttls_if_offered",
        config_user: "monitor",
      },
      ["User name needs STARTTLS or TLS with a verified certificate, or allow_plain_password."],
    ],
    [
      "http",
      {
        config_oauth2_token_url: "https://login.example.com/",
        config_oauth2_client_id: "a",
        config_oauth2_scopes: 'read "all"',
        config_proxy_url: "http://proxy.example.com",
        config_proxy_username: "a:b",
      },
      [
        "Scopes must have only visible ASCII characters other than quotes and backslashes.",
        "Proxy user name must have no colon and no control characters.",
      ],
    ],
  ])("errors of a %s monitor say what is allowed", async (type, fields, errors) => {
    await using dashboard = await createMonitorDashboard();
    const answer = await dashboard.create({ type, ...fields });
    expect(answer.status).toBe(422);
    expect(readHtml(answer.text).texts("[role=alert] li")).toEqual(errors);
  });
});
