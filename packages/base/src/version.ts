import { readFileSync } from 'node:fs'

const packageFile = new URL('../../../package.json', import.meta.url)

/** The version in package.json. */
export const version: string = JSON.parse(readFileSync(packageFile, 'utf8')).version

/**
 * How an operator starts this program. A checkout and the container image run the TypeScript
 * sources, through npm; the built package installs `bursar`.
 */
export const programName = (script = process.argv[1] ?? ''): string =>
  script.endsWith('.ts') ? 'npm run -s bursar --' : 'bursar'

/** A command to type, for a message: `npm run -s bursar -- migrate` in backquotes. */
export const commandHint = (words: string): string => `\`${programName()} ${words}\``
