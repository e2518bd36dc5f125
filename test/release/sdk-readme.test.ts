import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { format, promisify } from 'node:util'
import { describeService } from '../support/describe-service.ts'
import { temporaryFolder } from '../support/harness.ts'

const source = new URL('../../sdk/src/index.ts', import.meta.url)
const folder = temporaryFolder()
const text = readFileSync(new URL('../../sdk/README.md', import.meta.url), 'utf8')

/** Each sample of TypeScript, and the output that follows it. */
const samples = [...text.matchAll(/```ts\n(.*?)```\n\n```text\n(.*?)```/gs)].map(
  ([, code = '', expected = '']) => ({ code, expected }),
)
/** Later samples use the client of the first one. */
const client = /^.*?^}\)$/ms.exec(samples[0]?.code ?? '')?.[0] ?? ''
const fileOf = (at: number) => join(folder, `sample-${at}.mts`)

const service = describeService({}, async () => {
  for (const [at, { code }] of samples.entries()) {
    const here = `${code.includes('createBursar(') ? '' : client}\n${code}`
      .replaceAll("'bursar-client'", `'${source.pathname}'`)
      .replace('http://127.0.0.1:8080', service.url)
    writeFileSync(fileOf(at), here)
  }
})

after(async () => {
  rmSync(folder, { recursive: true })
})

describe("the samples of the package's README", () => {
  test('are all followed by their output', () => {
    assert.equal(samples.length, text.match(/^```ts$/gm)?.length)
    assert.ok(samples.length >= 6)
  })

  test('compile in strict mode', async () => {
    const compiler = new URL('../../node_modules/.bin/tsc', import.meta.url).pathname
    const options = ['--ignoreConfig', '--noEmit', '--strict', '--allowImportingTsExtensions']
    const target = ['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2022']
    const typeRoots = new URL('../../node_modules/@types', import.meta.url).pathname
    const types = ['--types', 'node', '--typeRoots', typeRoots, '--skipLibCheck']
    const args = [...options, ...target, ...types]
    const compiling = promisify(execFile)(compiler, [
      ...args,
      ...samples.map((_sample, at) => fileOf(at)),
    ])
    const told = await compiling.catch(({ stdout }) => ({ stdout }))
    assert.equal(told.stdout, '')
  })

  for (const [at, { expected }] of samples.entries()) {
    test(`print what they show: sample ${at + 1}`, async (t) => {
      const { mock } = t.mock.method(console, 'log', () => {})
      await import(fileOf(at))
      const printed = mock.calls.map(({ arguments: values }) => `${format(...values)}\n`)
      mock.restore()
      assert.equal(printed.join(''), expected)
    })
  }
})
