import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'

/**
 * Builds what npm publishes of `sdk/`, in that folder: modules, and the same as CommonJS, each with
 * its types. npm runs it at `pack`.
 */
rmSync('dist', { recursive: true, force: true })
for (const project of ['tsconfig.json', 'tsconfig.commonjs.json']) {
  const isWindows = process.platform === 'win32'
  const { error, status } = spawnSync('tsc', ['-p', project], {
    stdio: 'inherit',
    shell: isWindows,
  })
  // `npm ci --omit=dev` leaves it out, and npm runs this script all the same.
  if (error !== undefined) {
    console.error(
      'npm pack builds the package with TypeScript, which is not installed. Run `npm ci` without --omit=dev, then npm pack again.',
    )
  }
  if (status !== 0) process.exit(status ?? 1)
}
writeFileSync('dist/commonjs/package.json', '{"type":"commonjs"}\n')
