/**
 * Lines end with LF, CR LF, or CR alone as in old files of the Macintosh. Each line end is read for
 * itself: a file may have been put together from several.
 */
export const [NEWLINE, RETURN] = [0x0a, 0x0d]

/** Finds a byte, or the length where there is none, from places that only rise. */
export function finder(bytes: Buffer, byte: number): (from: number) => number {
  let found = -1
  return (from) => {
    if (found < from) {
      const next = bytes.indexOf(byte, from)
      found = next < 0 ? bytes.length : next
    }
    return found
  }
}

/** Finds where a line ends, and how many bytes end it, from places that only rise. */
export function lineEndFinder(bytes: Buffer) {
  const [newline, carriageReturn] = [finder(bytes, NEWLINE), finder(bytes, RETURN)]
  return (from: number): { readonly at: number; readonly length: number } => {
    const at = Math.min(newline(from), carriageReturn(from))
    return { at, length: bytes[at] === RETURN && bytes[at + 1] === NEWLINE ? 2 : 1 }
  }
}

/** How many lines end within these bytes. */
export function lineEndsIn(bytes: Buffer): number {
  const endFrom = lineEndFinder(bytes)
  let count = 0
  for (let end = endFrom(0); end.at < bytes.length; end = endFrom(end.at + end.length)) count += 1
  return count
}
