import { signatureHeaders } from "../../features/webhooks/secrets";

/**
 * Returns a shell script that verifies a message, with an example whose signature is valid. The
 * script needs OpenSSL only. `now` is in unix ms.
 */
export function shellSnippet(secret: string, now: number): string {
  const id = "evt_example";
  const body = '{"type":"webhook.test","timestamp":"2026-01-01T12:00:00.000Z","data":{}}';
  const headers = signatureHeaders({ id, at: now, body, secrets: [secret] });
  return `secret='${secret}'
# An example. Replace it with the three headers and the body that you received.
id='${id}' timestamp='${headers["webhook-timestamp"]}'
signature='${headers["webhook-signature"]}'
body='${body}'

key=$(printf %s "\${secret#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')
expected=$(printf %s.%s.%s "$id" "$timestamp" "$body" |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)
case " $signature " in
  *" v1,$expected "*) echo 'The signature is valid.' ;;
  *) echo 'The signature is not valid.'; false ;;
esac`;
}

/** Returns a server for Node.js or Bun that accepts only messages signed with the secret. */
export function javaScriptSnippet(secret: string): string {
  return `// npm install standardwebhooks, then save this as receiver.mjs and run it.
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook("${secret}");

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const event = webhook.verify(Buffer.concat(chunks), request.headers);
    console.log(event.type, event.data);
    response.writeHead(204).end();
  } catch {
    response.writeHead(401).end();
  }
}).listen(3000);`;
}
