import { readFileSync } from 'node:fs'

const packageFile = new URL('../../package.json', import.meta.url)

/** The program's version, as package.json has it. */
export const version: string = JSON.parse(readFileSync(packageFile, 'utf8')).version
