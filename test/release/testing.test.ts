import '@bursar/sandbox'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { limitNamed } from '@bursar/base'
import { sandboxOperations } from '@bursar/contract'
import { consoleSteps } from '../support/console-blocks.ts'
import { runConsole } from '../support/run-console.ts'
import { type Listening, startProcess } from '../support/server-process.ts'

const guide = 'docs/testing.md'
const steps = consoleSteps(guide)
let sandbox: Listening
let answers: string[]

before(async () => {
  sandbox = await startProcess(['packages/cli/src/main.ts', 'sandbox', '--json', '--port', '0'])
  const here = steps.map((step) => ({
    ...step,
    command: step.command.replaceAll('http://127.0.0.1:8080', sandbox.url),
  }))
  answers = await runConsole(here, {})
})
after(() => sandbox.stop())

test(`${guide} shows the output of each of its commands`, () => {
  assert.ok(steps.length >= 18)
  for (const [at, { command, expected }] of steps.entries()) {
    assert.equal(answers[at]?.replaceAll('\r', ''), expected, command)
  }
})

test(`${guide} names every call and every limit`, () => {
  const text = readFileSync(guide, 'utf8')
  for (const { path } of sandboxOperations) {
    assert.ok(text.includes(path.replaceAll(/:([a-z]+)/g, '{$1}')), path)
  }
  const shown = [
    limitNamed('sandboxCustomersMax'),
    limitNamed('sandboxSnapshotsMax'),
    limitNamed('sandboxFaultsMax'),
  ]
  const others = [
    limitNamed('sandboxFaultTimesMax'),
    limitNamed('sandboxDelayMsMax'),
    limitNamed('sandboxRequestsKept'),
  ]
  for (const limit of [...shown, ...others]) {
    assert.match(text, new RegExp(`\\| ${limit.toLocaleString('en')} +\\|`), String(limit))
  }
  assert.ok(text.includes(`${limitNamed('sandboxRecordsBytesMax') / 1024 ** 2} MiB`))
})
