import { totalmem } from 'node:os'

/** What all processes of a service may use, in bytes: of the machine, or of its control group. */
export function usableMemory(): number {
  // A group without a limit has none, zero or more than any machine, depending on the system.
  const ofGroup = process.constrainedMemory()
  return ofGroup > 0 ? Math.min(ofGroup, totalmem()) : totalmem()
}
