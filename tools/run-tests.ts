import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * Runs the test files of a suite that starts real processes, each file in a process of its own. The
 * file of a failed test runs once more, and both results are printed, so that a reader sees whether
 * the failure repeats. The run ends with 1 either way. A file that does not end is killed.
 *
 * Usage: node tools/run-tests.ts faults|release [PART OF A NAME …]
 */
type Part = {
  readonly files: readonly string[]
  readonly atOnce: number
  readonly env?: Readonly<Record<string, string>>
  /** Whether the files share a database server, which the setup of each starts. */
  readonly setUp?: true
}

const onPostgres = ['fee-quotes-model', 'oauth-processes', 'stream-processes']
/** These fill the disk and use each core for minutes. */
const alone = ['image', 'release']
const named = (suite: string, names: readonly string[]) =>
  names.map((name) => `test/${suite}/${name}.test.ts`)

const suites: Readonly<Record<string, readonly Part[]>> = {
  faults: [
    { files: globSync('test/faults/*.test.ts').toSorted(), atOnce: 2 },
    {
      files: named('faults', onPostgres),
      atOnce: 1,
      env: { BURSAR_TEST_STORE: 'postgres' },
      setUp: true,
    },
  ],
  release: [
    {
      files: globSync('test/release/**/*.test.ts')
        .toSorted()
        .filter((file) => !alone.includes(basename(file, '.test.ts'))),
      atOnce: 2,
    },
    { files: named('release', alone), atOnce: 1 },
  ],
}

const [suite = '', ...wanted] = process.argv.slice(2)
const parts = suites[suite]
if (parts === undefined) {
  console.error(`name a suite: ${Object.keys(suites).join(' or ')}`)
  process.exit(2)
}

/** What a failed test leaves running keeps its process alive without end. */
const FILE_MINUTES_MAX = 30

/** The groups of processes of the files that run. */
const groups = new Set<number>()
const endGroup = (group: number) => {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // All of its processes have ended.
  }
}
process.once('exit', () => {
  for (const group of groups) endGroup(group)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

type Ran = { readonly code: number; readonly printed: string }

async function run(file: string, { env, setUp }: Part): Promise<Ran> {
  const setup = setUp ? ['--test-global-setup=test/support/global-setup.ts'] : []
  const words = ['--test', '--test-reporter=spec', ...setup, file]
  const child = spawn(process.execPath, words, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  }
  const group = child.pid ?? 0
  groups.add(group)
  const over = setTimeout(() => {
    printed += `ended after ${FILE_MINUTES_MAX} minutes\n`
    endGroup(group)
  }, FILE_MINUTES_MAX * 60_000)
  const [code] = await once(child, 'close')
  clearTimeout(over)
  groups.delete(group)
  return { code: code ?? 1, printed }
}

const countOf = (printed: string, what: string): number =>
  Number(new RegExp(`^ℹ ${what} (\\d+)`, 'm').exec(printed)?.[1] ?? 0)

/** A run without tests, or with skipped ones where nothing may be missing, proves nothing. */
function isRed({ code, printed }: Ran): boolean {
  const mayLack = process.env.CI !== 'true' || process.env.BURSAR_TEST_LONG === '1'
  const skips = mayLack ? 0 : countOf(printed, 'skipped')
  return code !== 0 || skips > 0
}

const totals = { tests: 0, pass: 0, fail: 0, skipped: 0 }
const failed: string[] = []

async function runOne(file: string, part: Part): Promise<void> {
  const ran = await run(file, part)
  for (const what of ['tests', 'pass', 'fail', 'skipped'] as const) {
    totals[what] += countOf(ran.printed, what)
  }
  console.log(`${isRed(ran) ? 'FAILED' : 'passed'} ${file}, ${countOf(ran.printed, 'tests')} tests`)
  if (!isRed(ran)) return
  console.log(ran.printed)
  const again = await run(file, part)
  const result = isRed(again) ? 'failed again' : 'passed the second time'
  failed.push(`${file}: ${result}`)
  console.log(`${file}: ${result}`)
  if (isRed(again)) console.log(again.printed)
}

for (const part of parts) {
  const files = part.files.filter(
    (file) => wanted.length === 0 || wanted.some((name) => file.includes(name)),
  )
  const queue = [...files]
  const worker = async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      await runOne(file, part)
    }
  }
  await Promise.all(Array.from({ length: part.atOnce }, worker))
}
for (const [what, count] of Object.entries(totals)) console.log(`ℹ ${what} ${count}`)
for (const line of failed) console.log(`✖ ${line}`)
if (failed.length > 0 || totals.tests === 0) process.exitCode = 1
