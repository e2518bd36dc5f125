import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { acme, callUrl, fetchToken, temporaryFolder } from '../support/harness.ts'
import { killWithUs } from '../support/kill-with-us.ts'
import { whilePacking } from '../support/while-packing.ts'

const root = process.cwd()

/** The libraries of the checkout serve, so that nothing is installed. */
test('the package that npm would publish starts a sandbox, which answers a page', async (t) => {
  const folder = temporaryFolder()
  const words = ['npm', 'pack', '--json', '--pack-destination', folder]
  const packs = JSON.parse(whilePacking(words, root, { ...process.env, NODE_OPTIONS: '' }))
  const [{ filename = '' } = {}] = Object.values<{ filename?: string }>(packs)
  execFileSync('tar', ['-xf', join(folder, filename), '-C', folder])
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  symlinkSync(join(root, 'node_modules', 'bursar-runtime'), join(modules, 'bursar-runtime'))
  const bin = join(folder, 'package', 'dist', 'bin.js')
  assert.ok(existsSync(bin))
  const child = spawn(process.execPath, [bin, 'sandbox', '--port', '0', '--json'], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  killWithUs(child)
  t.after(() => child.kill('SIGKILL'))
  const [line] = await once(createInterface(child.stdout), 'line')
  const { url } = JSON.parse(line)
  const token = await fetchToken(url, acme)
  const { status, body } = await callUrl(`${url}/v2/transfer/fiat-accounts?limit=1`, { token })
  assert.deepEqual([status, body.items.length], [200, 1])
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
})
