import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ConsoleStep } from './console-blocks.ts'

const MARK = '--- end of step ---'

/**
 * Runs the steps in one shell, so that later steps see the variables of earlier ones.
 * Returns the stdout of each step.
 */
export async function runConsole(
  steps: readonly ConsoleStep[],
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  const script = steps.map(({ command }) => `${command}\necho; echo '${MARK}'`).join('\n')
  const shell = spawn('bash', ['-c', script], {
    // A person at a terminal does not see the log line of a command.
    env: { ...process.env, LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  shell.stdout.setEncoding('utf8')
  shell.stdout.on('data', (chunk) => {
    printed += chunk
  })
  shell.stderr.resume()
  await once(shell, 'close')
  return printed
    .split(`${MARK}\n`)
    .slice(0, steps.length)
    .map((text) => text.trimEnd())
}
