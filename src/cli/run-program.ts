import { programOf } from './help/program.ts'
import { standardOutput } from './output.ts'
import { runProcess } from './run-command.ts'

/** Runs the command that the process's arguments name. */
export const runProgram = (): Promise<void> => runProcess(programOf(standardOutput), standardOutput)
