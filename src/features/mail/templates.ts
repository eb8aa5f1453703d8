import type { AppContext } from "../../context";
import type { ComposedMail } from "./compose";
import type { MailSettings } from "./settings";
import type { MailRow } from "./queue-store";

/** Facts that templates may use besides the mail itself. */
export interface TemplateEnvironment {
  ctx: AppContext;
  /** Settings with which the mail is sent. */
  settings: MailSettings;
}

/**
 * Writes a mail at the moment of its sending, with current data. Returns `unwanted` if it should not be sent
 * any more.
 */
export type MailTemplate = (mail: MailRow, env: TemplateEnvironment) => ComposedMail | "unwanted";

/** Templates by the names in `mails.template`. */
export type Templates = Readonly<Record<string, MailTemplate>>;
