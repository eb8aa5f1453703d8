import { MAIL_PATH } from "../../ui/frame/paths";

export const MAIL_TEST_PATH = `${MAIL_PATH}/test`;
export const MAIL_REMOVE_PATH = `${MAIL_PATH}/remove`;
export const MAIL_TOKEN_PATH = `${MAIL_PATH}/token`;
export const MAIL_REVOKE_PATH = `${MAIL_PATH}/token/revoke`;
export const MAIL_REPORTS_PATH = `${MAIL_PATH}/reports`;
export const SUPPRESSIONS_PATH = `${MAIL_PATH}/suppressions`;

/** Returns the path of a report. */
export function reportPath(id: string): string {
  return `${MAIL_REPORTS_PATH}/${id}`;
}

/** Returns the path at which a suppression is ended. */
export function undoPath({ reason, addressHmac }: { reason: string; addressHmac: string }): string {
  return `${SUPPRESSIONS_PATH}/${reason}/${addressHmac}`;
}
