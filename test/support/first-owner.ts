import type { Server } from "./binary";

const PASSWORD = "correct horse battery";

/** Signs in the owner, whom the set-up link creates, and returns the cookie. */
export async function signInOwner(server: Server): Promise<string> {
  const link = /http:\/\/\S+(\/admin\/setup\/\S+)/;
  while (!server.stderr().includes("Create an API key")) await server.fetch("/healthz");
  const [, path = ""] = link.exec(server.stderr()) ?? [];
  const fields = { name: "Ada", email: "ada@example.com", password: PASSWORD };
  const answer = await server.fetch(path, {
    method: "POST",
    headers: { origin: server.url },
    body: new URLSearchParams({ ...fields, public_address: server.url }),
  });
  return (answer.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
}
