import { WRITER_WORD } from '@bursar/intake'
import { programOf } from './commands.ts'
import { standardOutput } from './output.ts'
import { runProcess } from './run-command.ts'

/** Runs the command that the process's arguments name. */
export async function runProgram(): Promise<void> {
  // While Node takes a process down by itself, a signal has its default action again. A late one,
  // such as npm's second, would make a death by a signal of the code 0.
  process.once('beforeExit', () => process.exit())
  const words = wordsOf(process.argv.slice(2))
  if (words[0] === WRITER_WORD && process.send !== undefined) {
    const { runStreamWriter } = await import('./processes/stream-writer.ts')
    runStreamWriter()
    return
  }
  await runProcess(await programOf(words, standardOutput), words, standardOutput)
}

/** Without a command, the program starts the sandbox, which takes the options. */
function wordsOf(words: readonly string[]): readonly string[] {
  const [first] = words
  const isCommand = first !== undefined && !first.startsWith('-')
  const asksAboutProgram = ['-h', '--help', '-V', '--version'].includes(first ?? '')
  return isCommand || asksAboutProgram ? words : ['sandbox', ...words]
}
