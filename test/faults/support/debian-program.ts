import { existsSync } from 'node:fs'

/** The path of a program that Debian brings. Throws with the command that installs it. */
export function debianProgram(path: string, packageName: string): string {
  if (existsSync(path)) return path
  throw new Error(`${path} is missing: apt-get install ${packageName}`)
}
