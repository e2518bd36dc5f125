#!/usr/bin/env node
import { programOf } from './cli/help/program.ts'
import { standardOutput } from './cli/output.ts'
import { runCommand } from './cli/run-command.ts'

await runCommand(programOf(standardOutput), standardOutput)
