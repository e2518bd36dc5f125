import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { callUrl, temporaryFolder } from '../support/harness.ts'
import { killWithUs } from '../support/kill-with-us.ts'
import { linkModules } from '../support/link-modules.ts'

/** Where a checkout lies changes nothing in the package: filters of the build begin at its root. */

const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0')

test('a package that is built in a folder called src, with a space and an umlaut, starts', async (t) => {
  const checkout = join(temporaryFolder(), 'src', 'ein Prüfstand', 'src', 'bursar')
  const copied = files.filter((file) => file !== '' && !/^(test|docs\/console)\//.test(file))
  for (const file of copied) {
    mkdirSync(dirname(join(checkout, file)), { recursive: true })
    cpSync(file, join(checkout, file))
  }
  linkModules(checkout)
  execFileSync(process.execPath, ['tools/build-package.ts'], { cwd: checkout })
  const words = [join(checkout, 'dist', 'bin.js'), 'sandbox', '--port', '0', '--json']
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  killWithUs(child)
  t.after(() => child.kill('SIGKILL'))
  const [line] = await once(createInterface(child.stdout), 'line')
  const { status } = await callUrl(`${JSON.parse(line).url}/openapi.json`, {})
  assert.equal(status, 200)
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
})
