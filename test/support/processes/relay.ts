/**
 * Relays connections. Each line `FROM TO` on standard input makes it listen at FROM, print FROM, and connect clients to
 * TO. Both are `HOST:PORT` or the path of a socket. It answers an empty line with one, and ends with standard input.
 */
import { connect, createServer } from "node:net";

function addressOf(text: string): { path: string } | { host: string; port: number } {
  if (text.startsWith("/")) return { path: text };
  const [host = "", port] = text.split(":");
  return { host, port: Number(port) };
}

for await (const line of console) {
  if (line === "") {
    console.log();
    continue;
  }
  const [from = "", to = ""] = line.split(" ");
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ ...addressOf(to), allowHalfOpen: true });
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  server.listen(addressOf(from), () => console.log(from));
}
process.exit();
