import { exportsOf, programScript, writeCache } from './program-script.ts'

/** Runs the program of a package, and writes its code cache when the parent process asks for it. */
const [folder = '', ...words] = process.argv.slice(2)
const script = programScript(folder)
process.argv.splice(2, Number.POSITIVE_INFINITY, ...words)
process.once('message', () => {
  writeCache(folder, script)
  process.exit()
})
await exportsOf<typeof import('./program.ts')>(script, folder).runProgram()
