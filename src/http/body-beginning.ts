/**
 * Reads the first `maxBytes` of a body and ignores the rest, also where its sender stops half-way. Holds
 * no more than that, however small the pieces are.
 */
export async function readBeginning(request: Request, maxBytes: number): Promise<Uint8Array> {
  const beginning = new Uint8Array(maxBytes);
  let size = 0;
  const reader = request.body?.getReader();
  try {
    while (reader && size < maxBytes) {
      const { value, done } = await reader.read();
      if (done) break;
      beginning.set(value.subarray(0, maxBytes - size), size);
      size += Math.min(value.byteLength, maxBytes - size);
    }
    if (size === maxBytes) await reader?.cancel();
  } catch {
    // What came before its sender stopped is all that there is.
  }
  return beginning.subarray(0, size);
}
