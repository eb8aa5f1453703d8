import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import type { TlsOptions } from "node:tls";
import { greetingPacket } from "../../../support/mysql-packets";
import {
  certificateText,
  type OnConnection,
  startRawServer,
  startTlsServer,
} from "../../../support/raw-server";
import { startRelay } from "../../../support/relay";
import {
  CHECKED_TYPES,
  checkServerOf,
  type CheckedType,
  tlsOfType,
} from "../../../support/server-types";

const CERTIFICATES = ["good", "expired", "other", "self"] as const;
type CertificateName = (typeof CERTIFICATES)[number];

/** End of the message about a certificate that is not trusted. */
const PROBLEMS: Record<Exclude<CertificateName, "good">, string> = {
  expired: "The certificate expired on 2021-01-01.",
  other: "The certificate is for another name.",
  self: "The certificate is self-signed.",
};

/** Greetings of servers that do not offer TLS. */
const PLAIN_GREETINGS: Partial<Record<CheckedType, string | Buffer>> = {
  mysql: greetingPacket(),
  smtp: "220 mail.test\r\n250 mail.test\r\n",
};

/** Part of a conversation before TLS: what the server sends, and the length of the client's request for TLS. */
interface BeforeTls {
  greeting?: Buffer;
  requestBytes: number;
  consent?: string;
}

/** Starts a server that begins TLS after a request for it, and passes it on to a server with TLS. */
async function startUpgrading(
  certificate: CertificateName,
  { greeting, requestBytes, consent }: BeforeTls,
  options: TlsOptions,
) {
  const secured = await startTlsServer(certificate, closing, options);
  const server = await startRawServer((socket) => {
    const inner = connect({ host: "127.0.0.1", port: secured.port });
    inner.on("error", () => {});
    inner.on("data", (chunk: Buffer) => void socket.write(chunk));
    inner.on("close", () => void socket.end());
    socket.on("close", () => void inner.destroy());
    if (greeting) socket.write(greeting);
    let left = requestBytes;
    socket.on("data", (chunk: Buffer) => {
      const ofRequest = Math.min(left, chunk.length);
      left -= ofRequest;
      if (ofRequest > 0 && left === 0 && consent !== undefined) socket.write(consent);
      if (ofRequest < chunk.length) inner.write(chunk.subarray(ofRequest));
    });
  });
  return {
    port: server.port,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await secured[Symbol.asyncDispose]();
    },
  };
}

/** Closes a connection at its first request. */
const closing: OnConnection = (socket) => void socket.once("data", () => socket.end());

/** Starts a server that speaks a type until TLS has begun. */
function startSecure(
  type: CheckedType,
  certificate: CertificateName,
  options: TlsOptions = {},
): Promise<AsyncDisposable & { port: number }> {
  switch (type) {
    case "postgres":
      return startUpgrading(certificate, { requestBytes: 8, consent: "S" }, options);
    case "mysql":
      return startUpgrading(
        certificate,
        { greeting: greetingPacket({ hasTls: true }), requestBytes: 36 },
        options,
      );
    case "smtp":
      return startRelay({ certificate, ...options });
    default:
      return startTlsServer(certificate, closing, {
        ...options,
        ALPNProtocols: ["h2", "http/1.1"],
      });
  }
}

describe("the certificates of servers", () => {
  for (const type of CHECKED_TYPES) {
    for (const tls of tlsOfType(type)) {
      test(`a ${type} check with TLS (${tls}) judges a trusted, an expired, another name's and a self-signed certificate`, async () => {
        for (const certificate of CERTIFICATES) {
          await using server = await startSecure(type, certificate);
          const {
            outcome,
            message,
            certificate: seen,
          } = await checkServerOf(type, server, { tls });
          if (tls === "verify" && certificate !== "good") {
            expect(message).toEndWith(PROBLEMS[certificate]);
            expect(outcome).toBe(type === "domain" ? "unknown" : "failed");
          } else if (outcome !== "ok") {
            // The handshake is over, and the server closes the connection.
            expect(message).toMatch(/^(The registry cannot be asked: )?The connection was closed /);
          }
          if (type !== "docker" && type !== "domain") expect(seen?.expiresAt).toBeNumber();
        }
      });
    }

    const [tls] = tlsOfType(type);
    if (tls === undefined) continue;

    test(`a ${type} check with TLS tells that the server requires a client certificate`, async () => {
      const ca = await certificateText("root");
      for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
        const options = { requestCert: true, rejectUnauthorized: true, ca, maxVersion };
        await using server = await startSecure(type, "good", options);
        const { message } = await checkServerOf(type, server, { tls });
        expect(message).toMatch(/requires? (other ciphers or )?a client certificate\.$/);
      }
    });

    test(`a ${type} check with TLS fails if the server does not begin it`, async () => {
      const first = PLAIN_GREETINGS[type] ?? "";
      await using server = await startRawServer((socket) => {
        socket.write(first);
        socket.on("data", () => void socket.write("No TLS here.\r\n"));
      });
      const { message } = await checkServerOf(type, server, { tls });
      expect(message).toMatch(/The server does not (offer|speak) (TLS|STARTTLS)/);
      await server.allClosed();
    });
  }
});
