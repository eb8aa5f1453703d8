/** Name of a policy in `policy.ts`. */
export type PolicyName = "monitor" | "webhook";

/** 4 or 6 to insist on one. */
export type IpFamily = 4 | 6;

export interface ResolveTarget {
  /** A name, or an address (an IPv6 one with or without brackets). */
  host: string;
  family?: IpFamily | undefined;
  policy: PolicyName;
  /** The deadline, and the way to call it off. */
  signal: AbortSignal;
}

export interface ConnectTarget extends ResolveTarget {
  port: number;
  /** TLS with the host as server name; `verify: false` takes any certificate. */
  tls?: { verify: boolean } | undefined;
}

/** Certificate of a server. */
export interface Certificate {
  /** In unix ms. */
  expiresAt: number;
  /** Whom it is for and by whom, in a few words. */
  subject: string;
  issuer: string;
  /** Reason for which it is not trusted; null if it is. */
  problem: string | null;
}

/** An open connection. Whoever asked for it closes it. */
export interface Connection {
  /** The address that was reached. */
  address: string;
  certificate: Certificate | null;
  close(): void;
}

/** Default limit of a body that is read, in bytes. */
export const MOST_BODY_BYTES = 256 * 1024;

export interface HttpRequest {
  /** http or https, without user info. */
  url: URL;
  method: string;
  /** Names in any case; Host, Content-Length and what belongs to the connection are set here. */
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | undefined;
  family?: IpFamily | undefined;
  /** False takes any certificate; absent is true. */
  verifyTls?: boolean | undefined;
  /** Bytes of the body that are read, as sent; absent is 256 KiB. */
  maxBodyBytes?: number | undefined;
  policy: PolicyName;
  signal: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  /** Names in lower case; values of one name joined by ", ". */
  headers: ReadonlyMap<string, string>;
  /** The body as it was sent, compressed or not, as far as it was read; `readBody` makes it plain. */
  sentBody: Uint8Array;
  /** True if the body was longer than what was read. */
  isCut: boolean;
  certificate: Certificate | null;
  /** The address that answered. */
  address: string;
}

export const DNS_RECORD_TYPES = [
  "A",
  "AAAA",
  "CAA",
  "CNAME",
  "MX",
  "NS",
  "PTR",
  "SOA",
  "SRV",
  "TXT",
] as const;
export type DnsRecordType = (typeof DNS_RECORD_TYPES)[number];

export interface DnsQuery {
  name: string;
  type: DnsRecordType;
  /** `address` or `address:port` (`[v6]:port`) of the server to ask; absent: the system's. */
  resolver?: string | undefined;
  policy: PolicyName;
  signal: AbortSignal;
}

export interface DnsAnswer {
  /**
   * One text a record, as zone files write them: `10 mail.example.com` for MX, names without a final dot.
   * A TXT record whose owner cut it into pieces of fewer than 255 bytes is a record a piece.
   */
  records: string[];
}
