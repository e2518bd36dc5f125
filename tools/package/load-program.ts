import { fileURLToPath } from 'node:url'
import { exportsOf, programScript } from './program-script.ts'

/** The build puts this file in the place of the modules that start the program. */

const folder = fileURLToPath(new URL('.', import.meta.url))
const program = exportsOf<typeof import('./program.ts')>(programScript(folder), folder)

export const { runProgram, startSandboxHere } = program
