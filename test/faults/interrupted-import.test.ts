import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { temporaryFolder } from '../support/harness.ts'
import { runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { untilHolds } from '../support/until.ts'

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))
const DATABASE_URL = `sqlite:${join(folder, 'bursar.db')}`

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`${signal} ends an import with ${code} and says that nothing was changed`, async () => {
    const stdin = `${JSON.stringify(aFiatAccount())}\n`.repeat(10_000)
    const words = ['import', 'fiat-accounts', '-']
    const program = startProgram(words, { env: { DATABASE_URL }, stdin, stdinStays: 'open' })
    await program.taken
    assert.equal(await program.kill(signal), code)
    // A slow machine prints progress before it.
    assert.equal(program.errors().split('\n').at(-2), `stopped by ${signal}; nothing was changed`)
    const { code: exit, output } = await runProgram(['export', 'fiat-accounts'], {
      env: { DATABASE_URL },
    })
    assert.deepEqual([exit, output], [0, ''])
  })
}

test('Ctrl-C at a terminal shows the cursor again', {
  skip: process.platform !== 'linux',
}, async () => {
  const path = join(folder, 'many.ndjson')
  const records = Array.from({ length: 100_000 }, (_, at) => aFiatAccount({ id: anId(at) }))
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  const command = `'${process.execPath}' packages/cli/src/main.ts import fiat-accounts '${path}'`
  // `script` gives the command a terminal; its stdin is what the operator types.
  const terminal = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { ...process.env, DATABASE_URL },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let shown = ''
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
  })
  const ended = once(terminal, 'close')
  const hidden = () => shown.includes('\u001b[?25l')
  await untilHolds('the progress bar hides the cursor', hidden)
  terminal.stdin.write('\u0003')
  const [code] = await ended
  assert.equal(code, 130)
  assert.ok(shown.lastIndexOf('\u001b[?25h') > shown.lastIndexOf('\u001b[?25l'), 'no cursor')
  assert.match(shown, /stopped by SIGINT; nothing was changed\r?\n/)
})
