/** Kind of a report: the address does not exist, the mail failed for another reason, or a complaint. */
export type ReportKind = "hard" | "soft" | "complaint";

/** Content of a report about one mail. */
export interface Finding {
  /** `other`: no report that is understood. */
  kind: ReportKind | "other";
  /** For `hard`: false if only the second such report suppresses the address. */
  isCertain: boolean;
  /** Enhanced status code, such as `5.1.1`. */
  status: string | null;
  /** The reporting server's words, cleaned; empty without any. */
  diagnostic: string;
  /** Ids of mails that the report may be about, the most reliable first. */
  mails: readonly MailHint[];
  /** Address that an authenticated service reports; undefined for a raw message, since anyone can write one. */
  address?: string | undefined;
  /** Time at which it happened, as an authenticated service says (unix ms); undefined for a raw message. */
  at?: number | undefined;
  /** Beginning of the report in the clear, which is kept if no mail is found. */
  excerpt: string;
}

/** A mail that a report names. */
export interface MailHint {
  id: string;
  /** MAC of the envelope sender, which must be right; undefined where the report names the id alone. */
  mac?: string;
}
