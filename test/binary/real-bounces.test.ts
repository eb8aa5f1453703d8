import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { CLI_ACTOR } from "../../src/base/actor";
import { makeReportToken } from "../../src/features/mail/reports";
import { openForCommand } from "../../src/installation";
import { testConfig } from "../support/app";
import {
  createInstallation,
  holds,
  type Installation,
  type Server,
  PROCESS_TEST_MS,
} from "../support/binary";
import {
  BOUNCE_DOMAINS,
  describeWithMailServers,
  MAILBOXES,
  type MailServers,
  NOBODY,
} from "../support/mail-servers";
import { bounceMessage } from "../support/mail-reports";
import { connectToRelay } from "../support/relay";

setDefaultTimeout(PROCESS_TEST_MS);

const WAYS = ["pipe", "http"] as const;
type Way = (typeof WAYS)[number];

interface MailRow {
  id: string;
  recipient: string;
  status: string;
  reply: string;
}

describeWithMailServers("reports by Postfix and Dovecot", (servers) => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await createInstallation({ userId: NOBODY });
  });
  afterAll(() => installation?.[Symbol.asyncDispose]());

  function query<Row>(sql: string, ...values: string[]): Row[] {
    using reader = new Database(join(installation.dataDir, "allclear.db"), { readonly: true });
    return reader.query<Row, string[]>(sql).all(...values);
  }

  /** Returns the mails to the subscribers of a page, by the part before the @. */
  const mailsOf = (way: Way) =>
    query<MailRow>(
      `SELECT m.id, m.recipient, m.status, m.reply FROM mails AS m
        JOIN mailings AS l ON l.id = m.mailing_id JOIN pages AS p ON p.id = l.page_id
        WHERE p.slug = ? ORDER BY m.id`,
      way,
    );
  const statusesOf = (way: Way) =>
    Object.fromEntries(mailsOf(way).map(({ recipient, status }) => [recipient, status]));
  const countUnmatched = () =>
    query<{ n: number }>("SELECT count(*) AS n FROM mail_reports WHERE mail_id IS NULL")[0]?.n;

  /** Runs the server during some work, with reports that come in one way. */
  async function whileServing(way: Way, work: (server: Server) => Promise<void>): Promise<void> {
    const server = await serve(way);
    try {
      await work(server);
    } finally {
      await server.stop();
    }
  }

  async function serve(way: Way): Promise<Server> {
    const server = await installation.serve({
      env: {
        ALLCLEAR_SMTP_HOST: "127.0.0.1",
        ALLCLEAR_SMTP_PORT: String(servers().port),
        ALLCLEAR_SMTP_TLS: "none",
        ALLCLEAR_MAIL_FROM: `status@${MAILBOXES}`,
        ALLCLEAR_MAIL_BOUNCE_ADDRESS: `bounces@${BOUNCE_DOMAINS[way]}`,
        ALLCLEAR_BASE_URL: "http://status.example.test",
      },
    });
    const { dataDir, path } = installation;
    if (way === "pipe") {
      const command = `exec ${path("allclear")} mail bounce --data-dir ${dataDir}`;
      await servers().onReport(way, command);
      return server;
    }
    const data = openForCommand(testConfig({ ALLCLEAR_DATA_DIR: dataDir }), "test", {
      canCreate: false,
    });
    const token = await data.ctx.db.write((tx) => makeReportToken(data.ctx, tx, CLI_ACTOR));
    data.close();
    const type = "Content-Type: message/rfc822";
    const url = `${server.url}/api/v1/mail/bounces/${token}`;
    const command = `curl -fsS -H "${type}" --data-binary @- "${url}" || exit 75`;
    await servers().onReport(way, command);
    return server;
  }

  /** Sends an incident to people of a new page: to one mailbox that takes it, and to three others. */
  async function mailPeople(server: Server, way: Way): Promise<void> {
    const people = [`${way}@${MAILBOXES}`, `full@${MAILBOXES}`, `nobody-${way}@${MAILBOXES}`];
    const file = installation.path(`${way}.csv`);
    await Bun.write(file, ["email", ...people, `ann@${way}-unknown.test`, ""].join("\n"));
    await installation.createPage(way, ["API"]);
    const consent = ["--page", way, "--consent", "Asked by phone"];
    await installation.output("subscriber", "import", file, ...consent);
    const { value: key } = await installation.createKey(["write:incidents"]);
    const body = JSON.stringify({ page: way, name: "Errors", body: "We look into it." });
    const headers = { "Content-Type": "application/json" };
    const isOpened = () =>
      server
        .fetch("/api/v1/incidents", { method: "POST", key, headers, body })
        .then(({ status }) => status === 201);
    // The server has to notice the new key and page first.
    expect(await holds(isOpened)).toBe(true);
  }

  /** Waits until mails have these statuses. Prints the log of the mail servers if that takes too long. */
  async function expectStatuses(way: Way, expected: Record<string, string>): Promise<void> {
    const isReached = async () => Bun.deepEquals(statusesOf(way), expected);
    if (!(await holds(isReached))) console.error(servers().log());
    expect(statusesOf(way)).toEqual(expected);
  }

  test.each(WAYS)(
    "an unknown user, an unknown domain and a full mailbox are recorded when reports come by %s",
    (way) =>
      whileServing(way, async (server) => {
        await mailPeople(server, way);
        await expectStatuses(way, {
          [`${way}@${MAILBOXES}`]: "sent",
          [`full@${MAILBOXES}`]: "failed",
          [`nobody-${way}@${MAILBOXES}`]: "bounced",
          [`ann@${way}-unknown.test`]: "failed",
        });
        const [delivered, ...failed] = mailsOf(way);
        const [full, unknown, elsewhere] = failed;
        expect(full?.reply).toContain("5.2.2");
        expect(unknown?.reply).toContain("5.1.1");
        expect(elsewhere?.reply).toContain("5.4.4");
        const suppressed = query<{ id: string; reason: string }>(
          "SELECT mail_id AS id, reason FROM suppressions WHERE mail_id IN (SELECT value FROM json_each(?))",
          JSON.stringify(failed.map(({ id }) => id)),
        );
        expect(suppressed).toEqual([{ id: unknown?.id ?? "", reason: "bounced" }]);
        expect(countUnmatched()).toBe(0);
        expect(servers().deferred()).toBe(0);

        // The relay was asked for the headers alone, and for the envelope id.
        const reports = servers().reports(way);
        expect(reports).toHaveLength(failed.length);
        for (const { id } of failed) {
          const [report = ""] = reports.filter((text) =>
            text.includes(`Delivered-To: bounces+${id}-`),
          );
          expect(report).toContain(`Original-Envelope-Id: ${id}\n`);
          expect(report).toContain("Content-Type: text/rfc822-headers");
          expect(report).not.toContain("We look into it.");
        }

        // A server in between writes the address of the report in capitals, and leaves out everything else.
        const { id = "" } = delivered ?? {};
        const [message = ""] = servers().mailbox(way);
        const sender = /^Return-Path: <(.+)>$/m.exec(message)?.[1] ?? "";
        expect(sender).toStartWith(`bounces+${id}-`);
        const capitals = sender.toUpperCase();
        await submit(servers(), capitals, bounceMessage({ to: capitals }));
        await expectStatuses(way, { ...statusesOf(way), [`${way}@${MAILBOXES}`]: "bounced" });
      }),
  );

  test.each(WAYS)("forged and broken reports that come by %s change nothing", (way) =>
    whileServing(way, async () => {
      const state = () => [query("SELECT * FROM mails"), query("SELECT * FROM suppressions")];
      const before = state();
      const unmatched = countUnmatched() ?? 0;
      const taken = servers().reports(way).length;
      const [mail] = mailsOf(way);
      const to = `bounces@${BOUNCE_DOMAINS[way]}`;
      const wrong = `bounces+${mail?.id}-00000000@${BOUNCE_DOMAINS[way]}`;
      const report = bounceMessage({ recipient: mail?.recipient ?? "" });
      const messages: [string, string][] = [
        [to, report],
        [wrong, bounceMessage({ to: wrong })],
        // It ends in the middle of the report, and has no end of its parts.
        [to, report.slice(0, report.indexOf("Final-Recipient"))],
        [to, report.replaceAll(/^--.*$/gm, "--other")],
        [to, "Subject: Away\r\n\r\nBack on Monday.\r\n"],
        [to, `\x01${"\xff\x02".repeat(400)}\r\n\r\n${"--\r\n".repeat(2_000)}`],
      ];
      for (const [recipient, message] of messages) await submit(servers(), recipient, message);
      const isTaken = async () => servers().reports(way).length === taken + messages.length;
      expect(await holds(isTaken)).toBe(true);
      const isListed = async () => (countUnmatched() ?? 0) === unmatched + messages.length;
      expect(await holds(isListed)).toBe(true);
      expect(state()).toEqual(before);
      expect(servers().deferred()).toBe(0);
    }),
  );
});

/** Submits a message without a sender, as servers send reports. */
async function submit({ port }: MailServers, to: string, message: string): Promise<void> {
  const relay = await connectToRelay({ port }, { tls: "none" });
  if ("reply" in relay) throw new Error(relay.reply.text);
  const reply = await relay.send({
    envelope: { from: "", to },
    message: Buffer.from(message, "latin1"),
  });
  relay.close();
  expect(reply).toMatchObject({ stage: "message", code: 250 });
}
