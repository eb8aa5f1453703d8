import { Problem } from "../errors";
import { type Installation, openForCommand } from "../installation";
import type { Command, Invocation } from "./command";
import { type FlagsOfFields, wrongFlags } from "./fields";

/**
 * Opens the data directory for a command, works, and lets go of it, whatever happens. Answers 0.
 * A service's complaint about fields is thrown as one about the flags that they came from.
 */
export async function withInstallation(
  command: Pick<Command, "name">,
  invocation: Invocation,
  how: { mayCreate: boolean; fields: FlagsOfFields },
  work: (installation: Installation) => Promise<void>,
): Promise<0> {
  const installation = openForCommand(invocation.config, command.name, how);
  try {
    await work(installation);
    return 0;
  } catch (error) {
    const isWrongCall = error instanceof Problem && error.code === "validation_failed";
    throw isWrongCall ? wrongFlags(error.fields, how.fields) : error;
  } finally {
    installation.close();
  }
}
