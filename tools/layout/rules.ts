/** What each folder may import, besides itself. */
export type Rows = Readonly<Record<string, readonly string[]>>

/** What each adapter of the store may import. */
const adapter = [
  'store',
  'store/open-records',
  'store/credentials',
  'store/quotes',
  'store/imports',
  'store/merge',
  'store/versions',
  'store/schema',
  'resources',
  'contract',
  'vault',
  'values',
  'platform',
  'background',
]

/**
 * What each folder may import, besides itself. The longest prefix of a path decides which row
 * applies.
 */
export const serviceRows: Rows = {
  values: [],
  platform: ['values'],
  background: ['platform'],
  contract: ['values', 'platform'],
  vault: ['platform'],
  fees: ['values', 'platform', 'background'],
  resources: ['contract', 'fees/addresses', 'values', 'platform'],
  operations: ['resources', 'contract', 'values', 'platform'],
  store: ['store/schema', 'contract', 'vault', 'values', 'platform', 'background'],
  'store/quotes': [
    'store',
    'store/credentials',
    'fees/addresses',
    'contract',
    'values',
    'platform',
  ],
  'store/imports': ['store', 'contract', 'platform', 'background'],
  'store/credentials': ['store', 'vault', 'values', 'platform'],
  'store/schema': ['store', 'resources', 'contract', 'platform'],
  'store/merge': ['store', 'store/schema', 'resources', 'contract', 'values', 'platform'],
  'store/versions': [
    'store',
    'store/schema',
    'store/merge',
    'resources',
    'contract',
    'values',
    'platform',
  ],
  'store/open-records': [
    'store',
    'store/schema',
    'store/merge',
    'store/versions',
    'resources',
    'platform',
  ],
  'store/sqlite': adapter,
  'store/postgres': adapter,
  intake: ['store', 'resources', 'contract', 'values', 'platform'],
  'intake/files': ['intake', 'store', 'resources', 'contract', 'values', 'platform'],
  'intake/writer': [
    'intake',
    'intake/files',
    'store',
    'resources',
    'contract',
    'values',
    'platform',
  ],
  oauth: ['store', 'contract', 'vault', 'values', 'platform', 'background'],
  'withdrawal-fees': ['store', 'fees', 'contract', 'values', 'platform', 'background'],
  history: ['store', 'resources', 'contract', 'values', 'platform'],
  'intake/requests': [
    'intake',
    'intake/files',
    'intake/writer',
    'history',
    'store',
    'resources',
    'contract',
    'values',
    'platform',
  ],
  'operator-works': [
    'intake/requests',
    'intake/writer',
    'history',
    'withdrawal-fees',
    'operations',
    'resources',
    'store',
    'contract',
    'platform',
  ],
  http: ['operations', 'store', 'fees', 'contract', 'vault', 'values', 'platform', 'background'],
  verify: ['values', 'platform'],
  doctor: ['oauth', 'fees', 'store', 'vault', 'values', 'platform'],
  sandbox: [
    'http',
    'intake',
    'intake/files',
    'intake/requests',
    'oauth',
    'store',
    'operations',
    'resources',
    'contract',
    'fees',
    'vault',
    'values',
    'platform',
    'service',
  ],
  testing: ['sandbox', 'oauth', 'platform', 'service', 'stores'],
  cli: [
    'sandbox',
    'history',
    'withdrawal-fees',
    'intake',
    'intake/files',
    'intake/writer',
    'oauth',
    'store',
    'resources',
    'contract',
    'fees',
    'verify',
    'doctor',
    'vault',
    'values',
    'platform',
    'service',
    'stores',
    'background',
  ],
  service: [
    'http',
    'operator-works',
    'withdrawal-fees',
    'oauth',
    'intake',
    'intake/writer',
    'operations',
    'resources',
    'store',
    'fees',
    'contract',
    'vault',
    'values',
    'platform',
    'stores',
    'background',
  ],
  stores: ['store', 'store/sqlite', 'store/postgres', 'vault', 'values', 'platform', 'background'],
  bin: ['main', 'platform'],
  main: ['cli', 'stores', 'store', 'contract', 'vault', 'platform'],
}

/** The folders of the console, from the lowest to the highest. */
const consoleFolders = [
  'page-settings',
  'api-problem',
  'router',
  'session',
  'values',
  'kinds',
  'api',
  'parts',
  'parts/frame',
  'parts/list',
  'parts/record',
  'screens',
  'app',
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

/** Parts that each adapter of the store must give; the port may have the name too. */
export const adapterParts = ['session', 'dialect', 'page-query', 'fee-quotes', 'migrate']

/** Small files with one importer that remain files, and why. */
export const keptSmall: Readonly<Record<string, string>> = {
  'src/main.ts': 'bin.ts runs on every Node, and imports it on the right one',
  'src/operations/': 'a declaration',
  'src/fees/sources/networks/': 'one file for each family of networks',
  'src/http/pipeline/': 'a step of the pipeline',
  'src/http/server/': 'one thing that every request or answer passes',
  'src/intake/requests/precondition.ts': 'If-Match and If-None-Match of every write',
  'src/sandbox/deposit-instructions.ts': 'one file for each kind of record',
  'src/sandbox/issuer-quotes.ts': 'one file for each kind of record',
  'src/testing/sandbox-process.ts': 'the build puts it in the place of sandbox-here.ts',
  'src/withdrawal-fees/': 'the work of one operation',
  'console/src/parts/frame/error-boundary.tsx': 'what is left when a screen fails',
  'console/src/parts/frame/shortcuts.ts': 'every key that the console takes',
  'console/src/parts/record/qr-code.tsx': 'the browser loads it later',
  'console/src/screens/opened-screen.tsx': 'the browser loads it later',
  'console/src/session/idle.ts': 'when a sign-in ends by itself',
}
