import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

/**
 * Writes the script of the API page: one file of Scalar's package, compressed. Installing the
 * package would bring 27 others, which the script already contains. To update it, change the
 * version, run this file, check what it prints and record the hash. `npm audit` does not see the
 * file, so run this one whenever dependencies are updated. The page must work without the internet
 * and holds credentials, so it loads nothing from elsewhere.
 */
export const apiPageScript = {
  package: '@scalar/api-reference',
  version: '1.72.1',
  file: 'package/dist/browser/standalone.js',
  sha256: 'bf091006bdc3af6067af77c2f534812e3e633e94a94e87138069f570f33b762c',
  target: new URL('../packages/server/src/documents/api-page/scalar.js.br', import.meta.url),
} as const

function writeScript(): void {
  const script = download()
  const found = hash('sha256', script)
  if (found !== apiPageScript.sha256) {
    process.stderr.write(`the script has the SHA-256 ${found}, not the recorded one\n`)
    process.exitCode = 1
    return
  }
  const compressed = brotliCompressSync(script, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: script.length,
    },
  })
  writeFileSync(apiPageScript.target, compressed)
  process.stdout.write(`${script.length} bytes, compressed ${compressed.length}\n`)
}

/** npm checks the package's own hash. */
function download(): Buffer {
  const { package: name, version, file } = apiPageScript
  const folder = mkdtempSync(join(tmpdir(), 'api-page-script-'))
  try {
    const packed = execFileSync('npm', ['pack', `${name}@${version}`, '--json'], { cwd: folder })
    const [{ filename }] = JSON.parse(packed.toString())
    execFileSync('tar', ['xzf', filename, file], { cwd: folder })
    return readFileSync(join(folder, file))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) writeScript()
