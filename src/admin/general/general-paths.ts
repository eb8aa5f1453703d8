import { GENERAL_PATH } from "../paths";

export const NETWORKS_PATH = `${GENERAL_PATH}/networks`;
export const BACKUP_PATH = `${GENERAL_PATH}/backup`;
