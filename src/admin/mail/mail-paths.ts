import { MAIL_PATH } from "../paths";

export const MAIL_TEST_PATH = `${MAIL_PATH}/test`;
export const MAIL_REMOVE_PATH = `${MAIL_PATH}/remove`;
