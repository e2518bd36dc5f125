import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../../../../test/support/harness.ts'
import { linkModules } from '../../../../test/support/link-modules.ts'
import { longTest } from '../../../../test/support/long.ts'
import { testStore } from '../../../../test/support/test-database.ts'

/** The recipe "Add a kind of record" of CONTRIBUTING.md, followed in a copy of the repository. */

const SOURCE_FILES_MAX = 9

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
    .replaceAll('55555555-5555-4555-8555-555555555555', '66666666-6666-4666-8666-666666666666')

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

/** The numbers are those of the recipe. What only people read is left out. */
function addPayouts(copy: Copy): void {
  // 1 and 3
  copyRenamed(
    copy,
    'packages/contract/src/resources/issuer-quote-execution.ts',
    'packages/contract/src/resources/payout.ts',
  )
  repeatLines(copy, 'packages/contract/src/resources/catalogue.ts')
  // 4
  repeatLines(copy, 'packages/contract/src/scopes.ts')
  repeatLines(copy, 'packages/contract/src/resources/event-types.ts')
  // 6
  const operation = 'packages/contract/src/operations/list-issuer-quote-executions.ts'
  copyRenamed(copy, operation, 'packages/contract/src/operations/list-payouts.ts')
  repeatLines(copy, 'packages/contract/src/operations/index.ts')
  addToContract(copy)
  // 5
  copyRenamed(copy, 'packages/sandbox/src/issuer-quotes.ts', 'packages/sandbox/src/payouts.ts')
  repeatLines(copy, 'packages/sandbox/src/sample-records.ts')
  repeatLines(copy, 'packages/sandbox/src/story.ts')
  const examples = 'test/support/record-examples.ts'
  write(copy, examples, read(copy, examples).replace('[1-5]', '[1-6]'))
  // 8. The model of the walk law makes the records of both kinds alike.
  const model = 'packages/server/test/contract/walk-law.test.ts'
  insertBefore(copy, model, `    case 'issuer-quote-executions'`, `    case 'payouts':`)
  const documents = 'packages/server/test/contract/openapi.test.ts'
  const named =
    /issuer_quote_execution(?=\|)|issuer-quote-executions(?=\|)|'issuer_quote_execution',/g
  const repeat = (found: string) =>
    found.endsWith(',') ? `${found} 'payout',` : `${found}|${renamed(found)}`
  write(copy, documents, read(copy, documents).replaceAll(named, repeat))
  const samples = 'test/support/records.ts'
  insertBefore(copy, samples, `  'issuer-quote-executions'`, '  payouts: anIssuerQuote,')
}

/** Repeats each entry of the contract document that is about issuer quotes. */
function addToContract(copy: Copy): void {
  const file = 'packages/verify/src/contract.json'
  const document: Record<string, Record<string, unknown>> = JSON.parse(read(copy, file))
  for (const [part, entries] of Object.entries(document)) {
    if (typeof entries !== 'object') continue
    const repeated = Object.entries(entries).flatMap(([name, entry]) =>
      /issuer.?quote/i.test(name)
        ? [
            [name, entry],
            [renamed(name), JSON.parse(renamed(JSON.stringify(entry)))],
          ]
        : [[name, entry]],
    )
    document[part] = Object.fromEntries(repeated)
  }
  write(copy, file, JSON.stringify(document))
}

/** What a kind must pass on the engine of this run. */
const suite = [
  'packages/records/test/schema.test.ts',
  `packages/${testStore}/test/query-plans.test.ts`,
  'packages/contract/test/declarations.test.ts',
  'packages/server/test/contract/cross-tenant.test.ts',
  'packages/server/test/contract/walk-law.test.ts',
  'packages/server/test/contract/openapi.test.ts',
]

function run(copy: Copy, program: string, ...args: readonly string[]): void {
  // The filled sandbox and the database of this run have no records of the new kind.
  const {
    NODE_TEST_CONTEXT: _,
    BURSAR_TEST_SANDBOX_SQLITE,
    BURSAR_TEST_SANDBOX_POSTGRES,
    BURSAR_TEST_POSTGRES_PORT,
    ...env
  } = process.env
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: copy.folder,
    env: { ...env, BURSAR_TEST_LONG: '' },
    encoding: 'utf8',
  })
  assert.equal(status, 0, `${args.join(' ')}\n${stdout.slice(-8000)}\n${stderr.slice(-2000)}`)
}

/** The tracked files, without their history. */
function copyRepository(): Copy {
  const folder = temporaryFolder()
  const { stdout } = spawnSync('git', ['ls-files', '-co', '--exclude-standard'])
  for (const name of String(stdout).trim().split('\n')) {
    mkdirSync(join(folder, dirname(name)), { recursive: true })
    cpSync(name, join(folder, name))
  }
  linkModules(folder)
  return { folder, touched: new Set() }
}

longTest('a new kind of record touches at most nine files of the packages', async () => {
  const copy = copyRepository()
  try {
    addPayouts(copy)
    const sources = [...copy.touched].filter((file) => /^packages\/[^/]+\/src\/.*\.ts$/.test(file))
    assert.ok(sources.length <= SOURCE_FILES_MAX, sources.join('\n'))
    const sourcesOnly = { extends: './tsconfig.json', include: ['packages/*/src'] }
    writeFileSync(join(copy.folder, 'tsconfig.src.json'), JSON.stringify(sourcesOnly))
    run(copy, 'node_modules/.bin/tsc', '-p', 'tsconfig.src.json')
    // The examples are checked against the documents, which must know the kind.
    run(copy, process.execPath, 'tools/openapi-file.ts', '--write')
    run(copy, process.execPath, 'test/support/record-examples.ts', '--write')
    run(copy, process.execPath, 'tools/openapi-file.ts', '--write')
    const setUp = '--test-global-setup=test/support/global-setup.ts'
    run(copy, process.execPath, '--test', '--test-concurrency=2', setUp, ...suite)
  } finally {
    rmSync(copy.folder, { recursive: true, force: true })
  }
})
