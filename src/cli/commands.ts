import { answerImportCommand } from "./answer-import";
import { applyCommand, exportCommand, schemaCommand } from "./apply";
import { backupCommand } from "./backup";
import type { Command } from "./command";
import { copyDatabaseCommand, examineDatabaseCommand } from "./internal";
import { importCommands } from "./import";
import { demoCommand } from "./demo";
import { demoteCommand, fleetCommands, promoteCommand } from "./fleet";
import { healthcheckCommand } from "./healthcheck";
import { keyCommands } from "./key";
import { mailCommands } from "./mail";
import { openapiCommand } from "./openapi";
import { restoreCommand } from "./restore";
import { serveCommand } from "./serve";
import { subscriberCommands } from "./subscriber";
import { userCommands } from "./user";

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  serveCommand,
  demoCommand,
  ...keyCommands,
  ...userCommands,
  applyCommand,
  exportCommand,
  schemaCommand,
  ...importCommands,
  ...mailCommands,
  ...subscriberCommands,
  backupCommand,
  restoreCommand,
  promoteCommand,
  demoteCommand,
  ...fleetCommands,
  healthcheckCommand,
  openapiCommand,
];

/** Commands that only this program runs. */
export const INTERNAL_COMMANDS: readonly Command[] = [
  copyDatabaseCommand,
  answerImportCommand,
  examineDatabaseCommand,
];
