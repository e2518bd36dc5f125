import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Builds what npm publishes: JavaScript with declarations, because Node strips no types under
 * node_modules. The files that the program reads beside its code are copied. npm runs it at `pack`.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const dist = `${root}dist`

rmSync(dist, { recursive: true, force: true })
execFileSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
cpSync(`${root}src`, dist, { recursive: true, filter: (path) => !path.endsWith('.ts') })
chmodSync(`${dist}/bin.js`, 0o755)
