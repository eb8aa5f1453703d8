import { asUpload } from "./multipart";

/** Returns the options of a call that submits a file with subscribers and further fields. */
export function importForm(file: string | Uint8Array, fields: Readonly<Record<string, string>>) {
  return asUpload([
    ...Object.entries(fields).map(([name, text]) => ({ name, text })),
    { name: "file", filename: "subscribers.csv", type: "text/csv", bytes: file },
  ]);
}
