import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/harness.ts'
import { longTest } from '../support/long.ts'

/** The recipe "Add a kind of record" of CONTRIBUTING.md, followed in a copy of the repository. */

const SOURCE_FILES_MAX = 11

/** The new kind is a renamed copy of issuer quote executions. */
const renamed = (text: string): string =>
  text
    .replaceAll('/v2/issuer-quotes', '/v2/payouts')
    .replaceAll(/issuer-quote-executions|issuer_quote_executions/g, 'payouts')
    .replaceAll(/issuer-quote-execution|issuer_quote_execution|issuer quote execution/g, 'payout')
    .replaceAll(/IssuerQuoteExecutions/g, 'Payouts')
    .replaceAll(/IssuerQuoteExecution/g, 'Payout')
    .replaceAll(/issuerQuoteExecution/g, 'payout')
    .replaceAll(/issuer-quotes|issuerQuotes/g, 'payouts')
    .replaceAll(/issuerQuote/g, 'payout')
    .replaceAll('issuer quote', 'payout')

type Copy = { readonly folder: string; readonly touched: Set<string> }

function write({ folder, touched }: Copy, file: string, text: string): void {
  writeFileSync(join(folder, file), text)
  touched.add(file)
}

const read = ({ folder }: Copy, file: string): string => readFileSync(join(folder, file), 'utf8')

const copyRenamed = (copy: Copy, file: string, target: string): void =>
  write(copy, target, renamed(read(copy, file)))

/** Repeats each line that names issuer quotes for the new kind. */
function repeatLines(copy: Copy, file: string): void {
  const lines = read(copy, file).split('\n')
  const repeated = lines.flatMap((line) =>
    /issuer.?quote/i.test(line) ? [line, renamed(line)] : [line],
  )
  assert.ok(repeated.length > lines.length, `${file} does not name issuer quotes`)
  write(copy, file, repeated.join('\n'))
}

/** Inserts a line before the first line that starts with `anchor`. */
function insertBefore(copy: Copy, file: string, anchor: string, line: string): void {
  const lines = read(copy, file).split('\n')
  const at = lines.findIndex((found) => found.startsWith(anchor))
  assert.ok(at >= 0, `${file} has no line ${anchor}`)
  write(copy, file, lines.toSpliced(at, 0, line).join('\n'))
}

function addPayouts(copy: Copy): void {
  copyRenamed(copy, 'src/resources/issuer-quote-execution.ts', 'src/resources/payout.ts')
  repeatLines(copy, 'src/resources/catalogue.ts')
  const steps = 'src/store/schema/steps.ts'
  const list = /(const laterSteps: .* = \[)([^\]]*)\]/
  write(copy, steps, read(copy, steps).replace(list, `$1$2{ createKind: 'payouts' }]`))
  repeatLines(copy, 'src/contract/scopes.ts')
  copyRenamed(
    copy,
    'src/operations/list-issuer-quote-executions.ts',
    'src/operations/list-payouts.ts',
  )
  repeatLines(copy, 'src/operations/index.ts')
  copyRenamed(copy, 'src/sandbox/issuer-quotes.ts', 'src/sandbox/payouts.ts')
  repeatLines(copy, 'src/sandbox/world.ts')
  repeatLines(copy, 'src/sandbox/story.ts')
  // The model of the walk law makes the records of both kinds alike.
  const model = 'test/contract/walk-law.test.ts'
  insertBefore(copy, model, `    case 'issuer-quote-executions'`, `    case 'payouts':`)
}

const suite = [
  'test/store/schema.test.ts',
  'test/store/sqlite/query-plans.test.ts',
  'test/contract/declarations.test.ts',
  'test/contract/cross-tenant.test.ts',
  'test/contract/walk-law.test.ts',
]

function run(copy: Copy, program: string, ...args: readonly string[]): void {
  // The filled sandbox of this run has no records of the new kind.
  const { NODE_TEST_CONTEXT: _, BURSAR_TEST_SANDBOX: _filled, ...env } = process.env
  const { status, stdout } = spawnSync(program, args, {
    cwd: copy.folder,
    env: { ...env, BURSAR_TEST_STORE: 'sqlite', BURSAR_TEST_LONG: '' },
    encoding: 'utf8',
  })
  assert.equal(status, 0, `${args.join(' ')}\n${stdout.slice(-8000)}`)
}

longTest('a new kind of record touches at most eleven files of src', async () => {
  const copy: Copy = { folder: temporaryFolder(), touched: new Set() }
  try {
    for (const name of ['src', 'test', 'package.json', 'tsconfig.json']) {
      cpSync(name, join(copy.folder, name), { recursive: true })
    }
    symlinkSync(join(process.cwd(), 'node_modules'), join(copy.folder, 'node_modules'))
    addPayouts(copy)
    const sourcesOnly = { extends: './tsconfig.json', include: ['src'] }
    writeFileSync(join(copy.folder, 'tsconfig.src.json'), JSON.stringify(sourcesOnly))
    run(copy, 'node_modules/.bin/tsc', '-p', 'tsconfig.src.json')
    run(copy, process.execPath, '--test', ...suite)
    const sources = [...copy.touched].filter((file) => file.startsWith('src/'))
    assert.ok(sources.length <= SOURCE_FILES_MAX, sources.join('\n'))
  } finally {
    rmSync(copy.folder, { recursive: true, force: true })
  }
})
