/**
 * Opens a data directory as another user, when it is sent a line, and prints "opened" or what that
 * user is told, in JSON: `bun open-directory-as.ts DIRECTORY UID GID`. Needs root.
 */
import { openDataDirectory } from "../../../src/db/data-directory";

const [, , path = "", uid = "", gid = ""] = process.argv;
process.setgroups?.([]);
process.setgid?.(Number(gid));
process.setuid?.(Number(uid));

for await (const _line of console) {
  console.log(JSON.stringify(attempt()));
}

function attempt(): string {
  try {
    openDataDirectory(path);
    return "opened";
  } catch (error) {
    return (error as Error).message;
  }
}
