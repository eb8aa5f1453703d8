import { join } from "node:path";
import { temporaryFolder } from "./temporary-folder";

/** Answer to a `curl` command that was run unchanged. */
interface CurlAnswer {
  status: number;
  body: unknown;
  errors: string;
}

/**
 * Runs a `curl` command unchanged in a shell. `host`, such as `nas.test:8080`, is resolved to this
 * machine.
 */
export async function runCurl(command: string, host: string): Promise<CurlAnswer> {
  using home = temporaryFolder();
  const settings = [
    "silent",
    "show-error",
    "max-time = 20",
    `resolve = "${host}:127.0.0.1"`,
    String.raw`write-out = "\n%{http_code}"`,
  ];
  await Bun.write(join(home.path, ".curlrc"), settings.join("\n"));
  const shell = Bun.spawn(["sh", "-c", command], {
    // An empty environment, so that no proxy is used.
    env: { PATH: process.env["PATH"] ?? "", CURL_HOME: home.path },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output = "", errors = ""] = await Promise.all(
    [shell.stdout, shell.stderr].map((stream) => new Response(stream).text()),
  );
  await shell.exited;
  const end = output.lastIndexOf("\n");
  const text = output.slice(0, end);
  return {
    status: Number(output.slice(end + 1)),
    body: text.startsWith("{") ? JSON.parse(text) : text,
    errors,
  };
}
