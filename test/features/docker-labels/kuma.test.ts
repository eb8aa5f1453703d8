import { expect, test } from "bun:test";
import { startLabelledDocker } from "../../support/docker";
import { startLabelSite } from "../../support/docker-labels";
import { usePingProgram } from "../../support/ping-program";

test("labels of AutoKuma declare monitors of its types that have a counterpart", async () => {
  using _ping = usePingProgram("exit 0");
  using docker = startLabelledDocker(
    {
      name: "shop",
      labels: {
        "kuma.apps.group.name": "Apps",
        "kuma.web.http.name": "Website of {{ container_name }}",
        "kuma.web.http.url": "https://shop.example.com",
        "kuma.web.http.interval": "30",
        "kuma.web.http.parent_name": "apps",
        "kuma.web.http.max_retries": "3",
        "kuma.web.http.retry_interval": "15",
        "kuma.web.http.timeout": "8",
        "kuma.web.http.method": "HEAD",
        "kuma.web.http.ignore_tls": "true",
        "kuma.web.http.max_redirects": "0",
        "kuma.web.http.upside_down": "true",
        "kuma.web.http.description": "Ask the shop team.",
        "kuma.web.http.accepted_statuscodes": '["200-299","401"]',
        "kuma.web.http.notification_name_list": '["matrix"]',
        "kuma.web.http.tag_names": '[{"name":"mytag"}]',
        "kuma.matrix.notification.name": "Matrix",
        "kuma.matrix.notification.config": '{"accessToken":"x"}',
      },
    },
    {
      name: "db",
      labels: {
        "kuma.{{container_name}}.port.name": "Database",
        "kuma.{{container_name}}.port.hostname": "db.example.com",
        "kuma.{{container_name}}.port.port": "5432",
        "kuma.words.keyword.name": "Words",
        "kuma.words.keyword.url": "https://shop.example.com/words",
        "kuma.words.keyword.keyword": "sold out",
        "kuma.words.keyword.invert_keyword": "true",
        "kuma.router.ping.name": "Router",
        "kuma.router.ping.hostname": "192.0.2.1",
        "kuma.nightly_job.push.name": "Nightly job",
        "kuma.nightly_job.push.interval": "3600",
        "kuma.nightly_job.push.create_paused": "true",
      },
    },
  );
  await using site = await startLabelSite({ local: docker.path });
  expect(await site.read()).toMatchObject({ silent: [], problems: [] });
  expect(await site.refs()).toEqual(["db", "nightly-job", "router", "web", "words"]);
  expect(await site.monitor("web")).toMatchObject({
    name: "Website of shop",
    type: "http",
    interval_seconds: 30,
    group: "Apps",
    failure_threshold: 4,
    retry_interval_seconds: 15,
    timeout_ms: 8_000,
    inverted: true,
    notes: "Ask the shop team.",
    config: {
      url: "https://shop.example.com",
      method: "HEAD",
      verify_tls: false,
      follow_redirects: false,
      assertions: [{ source: "status", op: "in", value: ["200-299", "401"] }],
    },
  });
  expect(await site.monitor("db")).toMatchObject({
    type: "tcp",
    config: { host: "db.example.com", port: 5_432 },
  });
  expect(await site.monitor("words")).toMatchObject({
    type: "http",
    config: { assertions: [{ source: "body", op: "not_contains", value: "sold out" }] },
  });
  expect(await site.monitor("router")).toMatchObject({
    type: "ping",
    config: { host: "192.0.2.1" },
  });
  expect(await site.monitor("nightly-job")).toMatchObject({
    name: "Nightly job",
    type: "push",
    interval_seconds: 3_600,
    paused: true,
  });
});

test("labels of AutoKuma without a counterpart, with secrets or with templates are reported by name", async () => {
  const secret = "hunter2-hunter2";
  using docker = startLabelledDocker({
    name: "shop",
    labels: {
      "kuma.a.mysql.name": "A",
      "kuma.b.http.url": "https://b.example.com",
      "kuma.b.http.basic_auth_pass": secret,
      "kuma.c.http.url": "https://{{ system_info.Name }}.example.com",
      "kuma.d.http.url": "https://d.example.com",
      "kuma.d.http.json_path": "$.status",
      "kuma.e.push.push_token": secret,
      "kuma.f.http.url": "https://f.example.com",
      "kuma.f.http.max_retries": "many",
      "kuma.__web": "x",
      "kuma.good.http.url": "https://good.example.com",
    },
  });
  await using site = await startLabelSite({ local: docker.path });
  await site.read();
  const isSecret =
    "is a secret or a part of signing in, which labels never set. Set it in the dashboard, where it stays.";
  expect(site.problems()).toEqual([
    "kuma.a.mysql.name has the type mysql; of AutoKuma's types, labels declare only http, keyword, port, ping, push.",
    `kuma.b.http.basic_auth_pass ${isSecret}`,
    "kuma.c.http.url has a template, of which only {{ container_name }} is filled in.",
    "kuma.d.http.json_path is a setting without a counterpart here.",
    `kuma.e.push.push_token ${isSecret}`,
    "kuma.f.http.max_retries must be a whole number from 1 to 100.",
  ]);
  expect(await site.refs()).toEqual(["good"]);
  expect(JSON.stringify([site.logged, site.audit(), site.labels.report()])).not.toContain(secret);
});
