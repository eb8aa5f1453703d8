/** A message as Python's `email` reads it. */
export interface ParsedMail {
  defects: string[];
  /** Values by name, decoded. */
  headers: Record<string, string[]>;
  from: { name: string; address: string } | null;
  parts: { type: string; charset: string; encoding: string; text: string }[];
  /** Octets of the longest line, without CRLF. */
  longestLine: number;
}

const PROGRAM = `
import base64, email, email.policy, json, sys

def read(raw):
    message = email.message_from_bytes(raw, policy=email.policy.SMTP)
    headers, defects = {}, [repr(defect) for defect in message.defects]
    for name, value in message.items():
        headers.setdefault(name, []).append(str(value))
        defects += [f"{name}: {defect!r}" for defect in getattr(value, "defects", [])]
    parts = []
    for part in message.iter_parts():
        defects += [repr(defect) for defect in part.defects]
        parts.append({
            "type": part.get_content_type(),
            "charset": part.get_content_charset(),
            "encoding": part["Content-Transfer-Encoding"],
            "text": part.get_payload(decode=True).decode("utf-8").replace("\\r\\n", "\\n"),
        })
    addresses = message["From"].addresses if message["From"] else ()
    sender = {"name": addresses[0].display_name, "address": addresses[0].addr_spec} if len(addresses) == 1 else None
    longest = max(len(line) for line in raw.split(b"\\r\\n"))
    if b"\\n" in raw.replace(b"\\r\\n", b"") or b"\\r" in raw.replace(b"\\r\\n", b""):
        defects.append("a line does not end with CRLF")
    return {"defects": defects, "headers": headers, "from": sender, "parts": parts, "longestLine": longest}

print(json.dumps([read(base64.b64decode(raw)) for raw in json.load(sys.stdin)]))
`;

/** Reads messages with Python's `email`, which shares no code with the server. */
export async function parseMails(messages: readonly Uint8Array[]): Promise<ParsedMail[]> {
  const python = Bun.spawn(["python3", "-I", "-S", "-c", PROGRAM], {
    stdin: Buffer.from(
      JSON.stringify(messages.map((message) => Buffer.from(message).toString("base64"))),
    ),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([
    new Response(python.stdout).text(),
    new Response(python.stderr).text(),
  ]);
  if ((await python.exited) !== 0) throw new Error(errors);
  return JSON.parse(output) as ParsedMail[];
}
