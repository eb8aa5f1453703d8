/**
 * Backups that owners download from the dashboard, and the record of the last backup, also of one from
 * the command line. Another process of this program copies the database, so that requests do not wait.
 */
export { type Backups, createBackups } from "./backups";
export { COPY_COMMAND } from "./copy-process";
export { type LastBackup, readLastBackup, recordBackup } from "./last-backup";
