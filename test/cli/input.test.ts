import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { UsageError } from "../../src/cli/command";
import { firstLine } from "../../src/cli/process";
import { textOf } from "../support/binary";
import { temporaryFolder } from "../support/temporary-folder";

const COMMAND = ["user", "create", "--email", "ada@acme.test", "--password-stdin", "--json"];

async function* pieces(...chunks: (string | number[])[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    yield typeof chunk === "string" ? Buffer.from(chunk) : Uint8Array.from(chunk);
  }
}

describe("the first line of standard input", () => {
  test.each([
    [["correct horse\n"], "correct horse"],
    [["correct horse"], "correct horse"],
    [["correct horse\r\n"], "correct horse"],
    [[" correct horse \n"], " correct horse "],
    [["correct\nhorse\n"], "correct"],
    [["corr", "ect ho", "rse\nbattery"], "correct horse"],
    [["\n", "correct"], ""],
    [[], ""],
    // A character whose bytes come in two pieces.
    [[[0xc3], [0xab, 0x0a]], "ë"],
  ])("the first line of %j is %p", async (chunks, line) => {
    expect(await firstLine(pieces(...chunks))).toBe(line);
  });

  test("only the first line of standard input is read", async () => {
    let read = 0;
    async function* endless() {
      for (;;) {
        read += 1;
        yield Buffer.from("line\n");
      }
    }
    expect(await firstLine(endless())).toBe("line");
    expect(read).toBe(1);
  });

  test("standard input that is not text or has no line end within its limit is rejected", async () => {
    async function* endless() {
      for (;;) yield Buffer.alloc(4_096, "a");
    }
    for (const stream of [pieces([0xff, 0xfe, 0x0a]), endless()]) {
      const rejection = await firstLine(stream).catch((error: unknown) => error);
      expect(rejection).toBeInstanceOf(UsageError);
    }
    expect(await firstLine(pieces("a".repeat(65_536), "\n"))).toHaveLength(65_536);
  });
});

test("a process ends after reading its line, even if standard input stays open", async () => {
  using folder = temporaryFolder();
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "../../src/main.ts"), ...COMMAND],
    {
      env: { PATH: process.env.PATH ?? "", ALLCLEAR_DATA_DIR: folder.path },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      timeout: 240_000,
      killSignal: "SIGKILL",
    },
  );
  child.stdin.write("correct horse battery\n");
  await child.stdin.flush();
  const [out, err] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  expect([await child.exited, err]).toEqual([0, ""]);
  expect(JSON.parse(out)).toMatchObject({ email: "ada@acme.test", has_password: true });
  await child.stdin.end();
}, 300_000);
