import { afterAll, beforeAll, describe } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { holds, PROCESS_TEST_MS, textOf } from "./binary";
import { freePort } from "./free-port";
import { NXDOMAIN, startDnsServer } from "./dns-server";
import { temporaryFolder } from "./temporary-folder";

/** User without rights, which Debian calls `nobody`. Postfix runs no command as root. */
export const NOBODY = 65_534;
/** Domain of the mailboxes. */
export const MAILBOXES = "example.test";
/** Domain of a bounce address, for each way in which reports come. */
export const BOUNCE_DOMAINS = { pipe: "pipe.test", http: "http.test" } as const;

/** Mailboxes, the last with a quota of one byte. Every other name is unknown. */
const USERS = [
  "pipe:{PLAIN}secret::::::",
  "http:{PLAIN}secret::::::",
  "full:{PLAIN}secret::::::userdb_quota_rule=*:bytes=1",
];

/** Address of the resolver of this Postfix: a loopback address that nothing else uses. */
const RESOLVER = "127.83.83.53";

/** Postfix and Dovecot with folders, ports and processes of their own. Postfix delivers by LMTP. */
export interface MailServers extends AsyncDisposable {
  /** Port of Postfix on loopback. */
  port: number;
  /** Lets reports to a bounce address go to a shell command, with each report on its standard input. */
  onReport(way: keyof typeof BOUNCE_DOMAINS, command: string): Promise<void>;
  /** Returns the reports that a command got. */
  reports(way: keyof typeof BOUNCE_DOMAINS): string[];
  /** Returns the messages in a mailbox. */
  mailbox(name: string): string[];
  /** Returns the number of messages that wait for another attempt. */
  deferred(): number;
  /** Returns what the servers logged, for people. */
  log(): string;
}

/**
 * Describes tests with Postfix and Dovecot. Without them, or as another user than root, they are skipped, loudly.
 * In CI, a missing server is a failure.
 */
export function describeWithMailServers(
  name: string,
  body: (servers: () => MailServers) => void,
): void {
  const missing = ["postfix", "dovecot", "curl", "setpriv"].filter(
    (one) => Bun.which(one) === null,
  );
  const isRoot = process.getuid?.() === 0;
  const reason = isRoot ? describeMissing(missing) : "Only root can start Postfix.";
  if (reason !== undefined) {
    if (process.env["CI"] && isRoot && missing.length > 0) throw new Error(reason);
    console.warn(`SKIPPED: “${name}”. ${reason}`);
    describe.skip(name, () => {});
    return;
  }
  describe(name, () => {
    let servers: MailServers;
    beforeAll(async () => {
      servers = await startMailServers();
    }, PROCESS_TEST_MS);
    afterAll(() => servers?.[Symbol.asyncDispose]());
    body(() => servers);
  });
}

function describeMissing(programs: readonly string[]): string | undefined {
  if (programs.length > 0) return `This needs ${programs.join(", ")}.`;
  const version = Bun.spawnSync(["dovecot", "--version"]).stdout.toString().trim();
  return version.startsWith("2.3.") ? undefined : `This needs Dovecot 2.3, not ${version}.`;
}

/** Starts the servers. Throws with their log if one does not listen in time. */
async function startMailServers(): Promise<MailServers> {
  const folder = temporaryFolder();
  // Their users must reach their own folders.
  chmodSync(folder.path, 0o755);
  const path = (...names: string[]) => join(folder.path, ...names);
  const port = await freePort();
  const dns = await startDnsServer(() => NXDOMAIN, { host: RESOLVER, port: 53 });
  await writeFiles(path, port);
  const dovecot = Bun.spawn(["dovecot", "-F", "-c", path("dovecot.conf")], QUIET);
  await Bun.spawn(["postfix", "-c", path("postfix"), "start"], QUIET).exited;
  const log = () =>
    ["dovecot.log", "postfix.log"]
      .map((name) => (existsSync(path(name)) ? readFileSync(path(name), "utf8") : ""))
      .join("");

  const servers: MailServers = {
    port,
    async onReport(way, command) {
      const kept = path("reports", way);
      const script = `#!/bin/sh\nreport=$(mktemp ${kept}/XXXXXX) && cat > "$report" || exit 75\n`;
      await Bun.write(path(`${way}.sh`), `${script}{ ${command}; } < "$report"\n`);
      chmodSync(path(`${way}.sh`), 0o755);
    },
    reports: (way) => readAll(path("reports", way)),
    mailbox: (name) => readAll(path("mail", name, "new")),
    deferred: () => readdirSync(path("queue", "deferred"), { recursive: true }).length,
    log,
    async [Symbol.asyncDispose]() {
      // Postfix ends its own processes, whose ids are in its queue.
      await Bun.spawn(["postfix", "-c", path("postfix"), "stop"], QUIET).exited;
      dovecot.kill("SIGTERM");
      await dovecot.exited;
      await dns[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
  const isReady = await holds(
    async () => existsSync(path("dovecot", "lmtp")) && (await isListening(port)),
  );
  if (!isReady) {
    const words = log();
    await servers[Symbol.asyncDispose]();
    throw new Error(`the mail servers did not start:\n${words}`);
  }
  return servers;
}

const QUIET = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const;

async function writeFiles(path: (...names: string[]) => string, port: number): Promise<void> {
  for (const name of ["postfix", "queue", "data", "mail", "dovecot", "reports"])
    mkdirSync(path(name));
  for (const way of Object.keys(BOUNCE_DOMAINS)) mkdirSync(path("reports", way));
  await run("chown", "nobody", path("mail"), path("reports", "pipe"), path("reports", "http"));
  await run("chown", "postfix", path("data"));
  await Bun.write(path("users"), `${USERS.join("\n")}\n`);
  await Bun.write(path("dovecot.conf"), dovecotConfiguration(path));
  await Bun.write(path("postfix", "main.cf"), mainConfiguration(path));
  await Bun.write(path("postfix", "master.cf"), masterConfiguration(path, port));
  await Bun.write(path("postfix", "aliases"), "bounces: /dev/null\n");
  const transports = Object.entries(BOUNCE_DOMAINS).map(
    ([way, domain]) => `bounces@${domain} ${way}:`,
  );
  await Bun.write(path("postfix", "transport"), `${transports.join("\n")}\n`);
  await run("postalias", "-c", path("postfix"), `hash:${path("postfix", "aliases")}`);
  await run("postmap", "-c", path("postfix"), `hash:${path("postfix", "transport")}`);
  // The client that looks domains up has the queue as its root, with a resolver that knows no domain.
  mkdirSync(path("queue", "etc"));
  await Bun.write(path("queue", "etc", "resolv.conf"), `nameserver ${RESOLVER}\n`);
  for (const name of ["services", "nsswitch.conf"]) {
    copyFileSync(`/etc/${name}`, path("queue", "etc", name));
  }
}

async function run(...command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stderr: "pipe" });
  if ((await child.exited) !== 0) throw new Error(await textOf(child.stderr));
}

function dovecotConfiguration(path: (...names: string[]) => string): string {
  return `
protocols = lmtp
base_dir = ${path("dovecot")}
state_dir = ${path("dovecot")}
log_path = ${path("dovecot.log")}
ssl = no
mail_uid = nobody
mail_gid = nogroup
mail_location = maildir:${path("mail")}/%n
passdb {
  driver = passwd-file
  args = username_format=%n ${path("users")}
}
userdb {
  driver = passwd-file
  args = username_format=%n ${path("users")}
}
service lmtp {
  unix_listener lmtp {
    mode = 0666
  }
}
protocol lmtp {
  mail_plugins = quota
}
plugin {
  quota = maildir:User quota
}
`;
}

function mainConfiguration(path: (...names: string[]) => string): string {
  return `
compatibility_level = 3.6
queue_directory = ${path("queue")}
data_directory = ${path("data")}
maillog_file = ${path("postfix.log")}
maillog_file_prefixes = ${path()}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
myhostname = mail.${MAILBOXES}
smtpd_peername_lookup = no
smtp_dns_support_level = enabled
mydestination = ${Object.values(BOUNCE_DOMAINS).join(" ")}
alias_maps = hash:${path("postfix", "aliases")}
virtual_mailbox_domains = ${MAILBOXES}
virtual_mailbox_maps = static:all
virtual_transport = lmtp:unix:${path("dovecot", "lmtp")}
recipient_delimiter = +
transport_maps = hash:${path("postfix", "transport")}
pipe_destination_recipient_limit = 1
http_destination_recipient_limit = 1
`;
}

function masterConfiguration(path: (...names: string[]) => string, port: number): string {
  // Name, type, private, unprivileged, chroot, wakeup, processes, command.
  const services = [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    "cleanup unix n - n - 0 cleanup",
    "qmgr unix n - n 300 1 qmgr",
    "rewrite unix - - n - - trivial-rewrite",
    "bounce unix - - n - 0 bounce",
    "defer unix - - n - 0 bounce",
    "trace unix - - n - 0 bounce",
    "flush unix n - n 1000? 0 flush",
    "proxymap unix - - n - - proxymap",
    "anvil unix - - n - 1 anvil",
    "error unix - - n - - error",
    "retry unix - - n - - error",
    "local unix - n n - - local",
    "lmtp unix - - n - - lmtp",
    "smtp unix - - y - - smtp",
    "postlog unix-dgram n - n - 1 postlogd",
  ];
  const pipes = Object.keys(BOUNCE_DOMAINS).map(
    (way) => `${way} unix - n n - 1 pipe\n  flags=DR user=nobody argv=${path(`${way}.sh`)}`,
  );
  return `${[...services, ...pipes].join("\n")}\n`;
}

function readAll(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
}

function isListening(port: number): Promise<boolean> {
  return Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: { data() {} },
  }).then(
    (socket) => {
      socket.end();
      return true;
    },
    () => false,
  );
}
