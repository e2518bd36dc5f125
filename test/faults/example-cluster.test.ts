import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { runProgram } from '../support/program.ts'
import { untilHolds } from '../support/until.ts'
import { type Answer, send, statusOf } from './support/client.ts'

const LIST = '/v2/transfer/fiat-accounts'

test('examples/cluster comes up, serves through a dead server and a dead primary, and leaves nothing behind', async (t) => {
  const cluster = spawn(process.execPath, ['examples/cluster/cluster.ts', '--port', '0'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  t.after(() => cluster.kill('SIGKILL'))
  let printed = ''
  cluster.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  const isPrinted = async (text: string) => {
    const isDone = async () => printed.includes(text) || cluster.exitCode !== null
    await untilHolds(`it prints ${text}`, isDone)
    assert.ok(printed.includes(text), `it ended with ${cluster.exitCode}`)
  }
  const command = async (line: string, answer: string) => {
    cluster.stdin.write(`${line}\n`)
    await isPrinted(answer)
  }
  await isPrinted('Commands:')
  const [file = ''] = /\/\S+\/environment/.exec(printed) ?? []
  const env = Object.fromEntries(
    [...readFileSync(file, 'utf8').matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [
      String(name),
      String(value),
    ]),
  )
  const run = async (...words: string[]): Promise<string> => {
    const { code, output, errors } = await runProgram([...words, '--json'], { env })
    assert.equal(code, 0, errors)
    return output
  }
  const client = JSON.parse(
    await run('client', 'create', '--customer', 'northwind', '--name', 'treasury'),
  )
  await run('import', 'fiat-accounts', 'examples/records/fiat-accounts.ndjson')
  const urls = [...printed.matchAll(/server \w+ +(http\S+)/g)].map(([, url]) => String(url))
  assert.equal(urls.length, 3)
  const [, api = ''] = /API +(http\S+)/.exec(printed) ?? []

  const tokenAnswer = (url: string): Promise<Answer> =>
    send(url, '/oauth2/token', {
      method: 'POST',
      body: `grant_type=client_credentials&client_id=${client.client_id}&client_secret=${client.client_secret}`,
    })
  const granted = await tokenAnswer(api)
  assert.ok(granted.kind === 'answered' && granted.status === 200, JSON.stringify(granted))
  const token = JSON.parse(granted.text).access_token
  const before = await send(api, LIST, { token })
  assert.ok(before.kind === 'answered' && before.status === 200)
  assert.ok(JSON.parse(before.text).items.length > 0)
  const assertSame = async (url: string) => {
    const answer = await send(url, LIST, { token })
    assert.ok(answer.kind === 'answered' && answer.status === 200, JSON.stringify(answer))
    assert.equal(answer.text, before.text)
  }
  await command('kill server two', 'server two is killed')
  await assertSame(api)
  await command('start server two', 'server two is back')
  await command('kill primary', 'the primary is killed')
  for (const url of [api, ...urls]) await assertSame(url)
  await command('promote', 'is the primary')
  for (const url of urls) {
    await untilHolds('tokens are given', async () => statusOf(await tokenAnswer(url)) === 200)
    await assertSame(url)
  }
  cluster.kill('SIGINT')
  const [code] = await once(cluster, 'exit')
  assert.equal(code, 0)
  assert.ok(!existsSync(dirname(file)), 'its folder is left behind')
})
