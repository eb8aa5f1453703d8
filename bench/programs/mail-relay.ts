/**
 * A relay that accepts every mail at once. A request returns what it has taken, with its SMTP port.
 */
export interface TakenMails {
  port: number;
  count: number;
  /** Unix ms of the first and of the last. */
  first: number;
  last: number;
  /** Unix ms of the mails to addresses that begin with `probe`, by address. */
  probes: Record<string, number>;
}

interface Session {
  rest: string;
  recipient: string;
  isData: boolean;
}

const CRLF = "\r\n";
const END = "\r\n.\r\n";
let count = 0;
let first = 0;
let last = 0;
const probes: Record<string, number> = {};

/** Returns the replies to what a session has received. */
function repliesTo(session: Session): string {
  let replies = "";
  for (;;) {
    const mark = session.isData ? END : CRLF;
    const end = session.rest.indexOf(mark);
    if (end === -1) return replies;
    const line = session.rest.slice(0, end);
    session.rest = session.rest.slice(end + mark.length);
    if (session.isData) {
      session.isData = false;
      count += 1;
      last = performance.timeOrigin + performance.now();
      first ||= last;
      if (session.recipient.startsWith("probe")) probes[session.recipient] = last;
      replies += "250 2.0.0 Ok\r\n";
    } else if (line.startsWith("RCPT TO:<")) {
      session.recipient = line.slice("RCPT TO:<".length, line.indexOf(">"));
      replies += "250 2.1.5 Ok\r\n";
    } else if (line === "DATA") {
      session.isData = true;
      replies += "354 Go ahead\r\n";
    } else if (line.startsWith("EHLO")) replies += "250-relay.test\r\n250 8BITMIME\r\n";
    else replies += line === "QUIT" ? "221 Bye\r\n" : "250 2.0.0 Ok\r\n";
  }
}

const relay = Bun.listen<Session>({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    open(socket) {
      socket.data = { rest: "", recipient: "", isData: false };
      socket.write("220 relay.test ESMTP\r\n");
    },
    data(socket, chunk) {
      socket.data.rest += chunk.toString("latin1");
      const replies = repliesTo(socket.data);
      if (replies !== "") socket.write(replies);
    },
  },
});

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  fetch: () => Response.json({ port: relay.port, count, first, last, probes } satisfies TakenMails),
});

process.stderr.write(`Open http://127.0.0.1:${server.port}\n`);
