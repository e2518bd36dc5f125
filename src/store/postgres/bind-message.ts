/**
 * The Bind message that messages begin with, changed to ask for every column in its binary form; what begins with
 * another message is left as it is. The driver writes whole messages, and always asks for text, which is the
 * message's last two bytes: no format codes (PostgreSQL's documentation, "Message Formats", Bind).
 */
export function withBinaryResults(messages: Buffer): Buffer {
  if (messages[0] !== BIND) return messages
  // The length counts itself and not the byte before it.
  const end = 1 + messages.readUInt32BE(1)
  const changed = Buffer.concat([
    messages.subarray(0, end - NO_FORMAT_CODES_BYTES),
    ALL_BINARY,
    messages.subarray(end),
  ])
  changed.writeUInt32BE(end - 1 + ALL_BINARY.length - NO_FORMAT_CODES_BYTES, 1)
  return changed
}

const BIND = 'B'.charCodeAt(0)
const NO_FORMAT_CODES_BYTES = 2
/** One format code, which then is that of every column: 1. */
const ALL_BINARY = Buffer.from([0, 1, 0, 1])
