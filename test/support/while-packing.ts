import { execFileSync } from 'node:child_process'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

/**
 * Runs a command that packs, and returns its stdout. npm builds each package in a folder of the
 * repository, and test files run side by side: they take turns.
 */
export function whilePacking(
  words: readonly string[],
  cwd = process.cwd(),
  env: NodeJS.ProcessEnv = process.env,
): string {
  const lock = join(tmpdir(), `bursar-packing-${userInfo().uid}.lock`)
  return execFileSync('flock', [lock, ...words], {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 16 * 1024 * 1024,
  })
}
