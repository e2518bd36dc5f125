/** What each folder may import, besides itself. */
export type Rows = Readonly<Record<string, readonly string[]>>

/** The packages of the program, from the lowest to the highest. One imports only those below it. */
export const floors: readonly string[] = [
  'base',
  'fees',
  'contract',
  'records',
  'oauth',
  'intake',
  'sqlite',
  'postgres',
  'verify',
  'server',
  'sandbox',
  'cli',
]

/** The folders of the console, from the lowest to the highest. */
const consoleFolders = [
  'page-settings',
  'router',
  'values',
  'api-problem',
  'session',
  'kinds',
  'api',
  'parts',
  'parts/frame',
  'parts/list',
  'parts/record',
  'screens',
  'app',
  'open-root',
  'main',
]

/** A folder of the console may import those below it; the parts of screens not each other. */
export const consoleRows: Rows = Object.fromEntries(
  consoleFolders.map((folder, at) => [
    folder,
    consoleFolders
      .slice(0, at)
      .filter((lower) => !(folder.startsWith('parts/') && lower.startsWith('parts/'))),
  ]),
)

/** Names that each package, and each folder of operations, has once. */
export const entryNames = ['index', 'main']

/** Small files with one importer that remain files, and why. */
export const keptSmall: Readonly<Record<string, string>> = {
  'packages/cli/src/main.ts': 'bin.ts runs on every Node, and imports it on the right one',
  'packages/contract/src/operations/': 'a declaration',
  'packages/fees/src/sources/networks/': 'one file for each family of networks',
  'packages/server/src/pipeline/': 'a step of the pipeline',
  'packages/server/src/server/': 'one thing that every request or answer passes',
  'packages/sandbox/src/deposit-instructions.ts': 'one file for each kind of record',
  'packages/sandbox/src/issuer-quotes.ts': 'one file for each kind of record',
  'packages/sandbox/src/testing/sandbox-process.ts':
    'the build puts it in the place of sandbox-here.ts',
  'packages/server/src/works/withdrawal-fees/': 'the work of one operation',
  'console/src/parts/frame/error-boundary.tsx': 'what is left when a screen fails',
  'console/src/parts/frame/shortcuts.tsx': 'every key that the console takes',
  'console/src/open-root.ts': 'the browser evaluates it in a turn of its own',
  'console/src/parts/dialog/react-aria.tsx': 'the browser loads it later',
  'console/src/parts/record/qr-code.tsx': 'the browser loads it later',
  'console/src/screens/opened-screen.tsx': 'the browser loads it later',
  'console/src/session/idle.ts': 'when a sign-in ends by itself',
}
