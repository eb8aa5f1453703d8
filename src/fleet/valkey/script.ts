/** A program in Lua that the server runs as one step. */
export interface Script {
  source: string;
  /** Name by which a server that knows the program runs it. */
  sha1: string;
}

export function script(source: string): Script {
  return { source, sha1: new Bun.CryptoHasher("sha1").update(source).digest("hex") };
}
