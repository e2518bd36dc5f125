import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { temporaryFolder } from '../support/harness.ts'
import { runProgram } from '../support/program.ts'

/** Commands whose result nobody can read: the disk under stdout is full, or its reader has left. */

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))
const env = { DATABASE_URL: `sqlite:${join(folder, 'bursar.db')}`, LOG_LEVEL: 'warn' }
const { PATH = '' } = process.env

async function runUnread(words: readonly string[], reader: 'full disk' | 'has left') {
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, ['packages/cli/src/main.ts', ...words], {
    env: { PATH, ...env },
    stdio: ['ignore', reader === 'full disk' ? full : 'pipe', 'pipe'],
  })
  closeSync(full)
  child.stdout?.destroy()
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const [code] = await once(child, 'close')
  return { code, errors }
}

const clients = async (): Promise<{ client_id: string; secrets: unknown[] }[]> => {
  const { output } = await runProgram(['client', 'list', '--json'], { env })
  return JSON.parse(output).clients
}

test('no client gets a secret that nobody has seen', async () => {
  const create = ['client', 'create', '--customer', 'acme', '--name', 'treasury', '--json']
  const made = await runProgram(create, { env })
  assert.deepEqual([made.code, made.errors], [0, ''])
  const { client_id: id } = JSON.parse(made.output)
  const before = await clients()
  for (const [words, reader, fault] of [
    [create, 'full disk', 'ENOSPC'],
    [create, 'has left', 'EPIPE'],
    [['client', 'rotate', id, '--now'], 'full disk', 'ENOSPC'],
  ] as const) {
    const unread = await runUnread(words, reader)
    const expected = { code: 1, errors: `stdout cannot be written (${fault})\n` }
    assert.deepEqual(unread, expected, `${words[1]}, ${reader}`)
  }
  assert.deepEqual(await clients(), before)
})

test('a command that cannot write its result says why and exits with 1', async () => {
  const { code, errors } = await runUnread(['client', 'list'], 'full disk')
  assert.deepEqual(
    [code, errors],
    [1, 'stdout cannot be written (ENOSPC); check what was done before you repeat it\n'],
  )
})
