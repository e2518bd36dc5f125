import { statfsSync } from 'node:fs'

/** The free space for this user on the disk of a folder. Infinity where the system cannot tell. */
export const freeBytesOf = (folder: string): number => {
  const { bavail, bsize, blocks } = statfsSync(folder)
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize
}
