import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './harness.ts'
import { whilePacking } from './while-packing.ts'

const sdk = new URL('../../sdk', import.meta.url).pathname
const fixtures = new URL('../release/client-runtimes', import.meta.url).pathname

/** Makes a folder with the packed client and the packages of a lock file. Returns its path. */
export function installClient(fixture: 'next' | 'others'): string {
  const folder = temporaryFolder()
  cpSync(join(fixtures, fixture), folder, { recursive: true })
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit'], { cwd: folder, stdio: 'pipe' })
  const stdout = whilePacking(['npm', 'pack', '--json', '--pack-destination', folder], sdk)
  const [packed] = Object.values<{ readonly filename: string }>(JSON.parse(stdout))
  const into = join(folder, 'node_modules/bursar-client')
  mkdirSync(into)
  // It has no dependencies, so npm has nothing else to do.
  const file = join(folder, packed?.filename ?? '')
  execFileSync('tar', ['-xzf', file, '-C', into, '--strip-components=1'])
  return folder
}
