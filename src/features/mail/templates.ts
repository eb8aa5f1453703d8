import type { Ctx } from "../../context";
import type { ComposedMail } from "./compose";
import type { MailSettings } from "./settings";
import type { MailRow } from "./store";

/** Facts that templates may use besides the mail itself. */
export interface TemplateEnvironment {
  ctx: Ctx;
  /** Settings with which the mail is sent. */
  settings: MailSettings;
}

/** A mail that was written; `unwanted` if it should not be sent any more. */
type Written = ComposedMail | "unwanted";

/**
 * Writes a mail at the moment of its sending, with current data. The result is a promise if something has to be
 * stored first, such as the hash of a link's token.
 */
export type MailTemplate<Result = Written | Promise<Written>> = (
  mail: MailRow,
  env: TemplateEnvironment,
) => Result;

/** Templates by the names in `mails.template`. */
export type Templates<Result = Written | Promise<Written>> = Readonly<
  Record<string, MailTemplate<Result>>
>;
