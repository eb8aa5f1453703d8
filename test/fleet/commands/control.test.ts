import { expect, test } from "bun:test";
import { mkdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { OperatorError } from "../../../src/db/errors";
import { commandNode, listenForCommands } from "../../../src/fleet/commands";
import { socketPath } from "../../../src/fleet/node";
import { temporaryFolder } from "../../support/temporary-folder";

test("only the user of a node can send it commands, whatever the umask is", async () => {
  using folder = temporaryFolder();
  const before = process.umask(0);
  const commands: string[] = [];
  const control = listenForCommands(folder.path, async (command) => {
    commands.push(command);
    return { isDone: true, text: "This node is the primary now." };
  });
  process.umask(before);
  expect(statSync(join(folder.path, "control.sock")).mode & 0o777).toBe(0o600);
  expect(await commandNode(folder.path, "promote")).toEqual({
    isDone: true,
    text: "This node is the primary now.",
  });
  expect(await commandNode(folder.path, "retire" as "demote")).toEqual({
    isDone: false,
    text: "This node does not know the command.",
  });
  expect(commands).toEqual(["promote"]);
  await control.stop();
});

test("a socket with a long path is in a folder of this user, which is no link and not open to others", () => {
  using folder = temporaryFolder();
  const long = join(folder.path, "x".repeat(100));
  const short = dirname(socketPath(long, "control.sock"));
  expect(statSync(short).mode & 0o777).toBe(0o700);

  rmSync(short, { recursive: true });
  symlinkSync(folder.path, short);
  expect(() => socketPath(long, "control.sock")).toThrow(OperatorError);

  rmSync(short);
  const before = process.umask(0);
  mkdirSync(short);
  process.umask(before);
  expect(() => socketPath(long, "control.sock")).toThrow("is open to other users");
  rmSync(short, { recursive: true });
});
