import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { consoleSteps, withoutChanging } from '../support/console-blocks.ts'
import { temporaryFolder } from '../support/harness.ts'
import { runConsole } from '../support/run-console.ts'
import { type Listening, startProcess } from '../support/server-process.ts'

const readme = 'README.md'
const folder = temporaryFolder()
let sandbox: Listening
let answers: string[]

const steps = consoleSteps(readme)

before(async () => {
  sandbox = await startProcess(['packages/cli/src/main.ts', 'sandbox', '--json', '--port', '0'])
  // A free port, so that tests run beside each other and beside a developer's sandbox.
  const here = steps.map((step) => ({
    ...step,
    command: step.command.replaceAll('http://127.0.0.1:8080', sandbox.url),
  }))
  answers = await runConsole(here, { DATABASE_URL: `sqlite:${folder}/bursar.db` })
})
after(async () => {
  await sandbox.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('the README has commands to run', () => {
  assert.ok(steps.length >= 12)
})

for (const [at, { command, expected }] of steps.entries()) {
  test(`the README shows the output of: ${command.slice(0, 70)}`, () => {
    assert.equal(withoutChanging(answers[at] ?? ''), withoutChanging(expected))
  })
}
