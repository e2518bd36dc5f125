import assert from 'node:assert/strict'
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Metafile, Plugin } from 'esbuild'
import { filesBehind, namesIn } from './layout/doors.ts'

/**
 * Builds what npm publishes: the program with its libraries in one script, because Node strips no
 * types under node_modules and takes half of a second for a thousand small modules. V8's code cache
 * of a start lies beside it. The files that the program reads beside its code are copied. npm runs
 * this at `pack`.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const dist = `${root}dist`

/** The built package has the folders of the packages in one folder. */
const placeInDist = (path: string): string | undefined => /^packages\/(.*)$/.exec(path)?.[1]

/** A bundle lies in the folder itself, and still finds what lay beside each module. */
const filesBesideModules: Plugin = {
  name: 'files-beside-modules',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const own = placeInDist(relative(root, path))
      if (own === undefined) return undefined
      const url = `new URL(${JSON.stringify(`./${own}`)}, import.meta.url)`
      return {
        contents: pastDoors(readFileSync(path, 'utf8')).replaceAll('import.meta.url', url),
        loader: 'ts',
      }
    }),
}

/**
 * A door would load all that it exports, so what is imported from one is imported from its file. A
 * command loads as little as it would without packages.
 */
const pastDoors = (text: string): string =>
  text.replaceAll(
    /^(import|export) (type )?\{([^}]*)\} from '(@bursar\/[^']+)'/gm,
    (whole, word, type = '', names: string, door) => {
      const files = filesBehind(fileURLToPath(import.meta.resolve(door)))
      const byFile = Map.groupBy(
        names.split(',').filter((name) => name.trim() !== ''),
        (name) => files.get(namesIn(name)[0] ?? ''),
      )
      return byFile.has(undefined)
        ? whole
        : [...byFile]
            .map(([file, own]) => `${word} ${type}{${own}} from ${JSON.stringify(file)}`)
            .join(';')
    },
  )

/** The program is made of modules, so CommonJS starts a sandbox in a separate process. */
const processForHere: Plugin = {
  name: 'process-for-here',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /\/sandbox-here\.ts$/ }, () => ({ path: 'here', namespace: 'testing' }))
    onLoad({ filter: /.*/, namespace: 'testing' }, () => ({
      contents: "export { startSandboxProcess as startSandboxHere } from './sandbox-process.ts'",
      resolveDir: `${root}packages/sandbox/src/testing`,
    }))
  },
}

/** The files of the command and of `bursar/testing` load the script. */
const programInScript: Plugin = {
  name: 'program-in-script',
  setup: ({ onResolve }) => {
    const path = `${root}tools/package/load-program.ts`
    onResolve({ filter: /\/(run-program|sandbox-here)\.ts$/ }, () => ({ path }))
  },
}

// `npm ci --omit=dev` leaves it out, and npm runs this script all the same.
const { build } = await import('esbuild').catch(() => {
  console.error(
    'npm pack builds the package with esbuild and TypeScript, which are not installed. Run `npm ci` without --omit=dev, then npm pack again.',
  )
  process.exit(1)
})

rmSync(dist, { recursive: true, force: true })
const declare = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly']
execFileSync('tsc', declare, { cwd: root, stdio: 'inherit' })
// The package exports the types of `testing` only.
renameSync(`${dist}/packages/sandbox/src/testing`, `${dist}/testing`)
rmSync(`${dist}/packages`, { recursive: true })
for (const path of globSync('packages/*/src/**/*.*', { cwd: root })) {
  if (!path.endsWith('.ts')) cpSync(`${root}${path}`, `${dist}/${placeInDist(path)}`)
}
writeFileSync(`${dist}/own-node.json`, `${JSON.stringify(nodePackages(), null, 2)}\n`)
const define = { 'import.meta.url': 'bundleUrl' }
const bundleUrl = "const bundleUrl = require('node:url').pathToFileURL(__filename).href"
const { metafile } = await build({
  entryPoints: { program: `${root}tools/package/program.ts` },
  outdir: dist,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node24',
  // Fastify loads its compilers of schemas only where it gets schemas.
  external: ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'],
  plugins: [filesBesideModules],
  define,
  // One function, as Node makes of a CommonJS module, but as strict as the modules in it were.
  banner: { js: `(function (exports, require, module, __filename) {'use strict';${bundleUrl}` },
  footer: { js: '})' },
  // Less to read and to keep. A stack trace still names each function.
  minifyWhitespace: true,
  lineLimit: 160,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
})
writeFileSync(`${dist}/LICENSES.txt`, licensesOf(metafile))
// V8 stores a script of ASCII in half of the space. Comments of libraries have other characters.
const script = readFileSync(`${dist}/program.cjs`, 'utf8')
const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
writeFileSync(`${dist}/program.cjs`, script.replaceAll(/[^\0-\x7f]/g, escaped))
await build({
  entryPoints: {
    bin: `${root}packages/cli/src/bin.ts`,
    main: `${root}packages/cli/src/main.ts`,
    testing: `${root}packages/sandbox/src/testing/create-sandbox.ts`,
  },
  outdir: dist,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  plugins: [programInScript, filesBesideModules],
  logLevel: 'warning',
})
// Node loads modules from CommonJS, but Jest does not.
await build({
  entryPoints: [`${root}packages/sandbox/src/testing/create-sandbox.ts`],
  outfile: `${dist}/testing.cjs`,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  plugins: [processForHere, filesBesideModules],
  define,
  banner: { js: bundleUrl },
  logLevel: 'warning',
})
for (const name of ['create-sandbox', 'control-client']) {
  const types = readFileSync(`${dist}/testing/${name}.d.ts`, 'utf8')
  writeFileSync(
    `${dist}/testing/${name}.d.cts`,
    types.replaceAll(/'(\.\/[\w-]+)\.ts'/g, "'$1.cjs'"),
  )
}
chmodSync(`${dist}/bin.js`, 0o755)
await writeCodeCache()

/** Starts a server on an empty store. What it has called when it is ready is in the cache. */
async function writeCodeCache(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bursar-build-'))
  const words = ['serve', '--create', '--port', '0', '--database', `sqlite:${folder}/store.db`]
  const server = fork(`${root}tools/package/write-cache.ts`, [dist, ...words], {
    cwd: folder,
    env: { LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  assert(server.stdout !== null, 'stdout of the server is a pipe')
  const ready = once(createInterface(server.stdout), 'line')
  const ended = once(server, 'exit')
  try {
    const [line] = await Promise.race([
      ready,
      ended.then(([code]) => {
        throw new Error(`The server that fills the code cache has ended with ${code}.`)
      }),
    ])
    const { status } = await fetch(`${String(line).replace(/^.* /, '')}/readyz`)
    assert.equal(status, 200)
    server.send('write')
    assert.deepEqual(await ended, [0, null])
  } finally {
    server.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The licenses of the libraries in the script. */
function licensesOf({ inputs }: Metafile): string {
  const folders = Object.keys(inputs).flatMap(
    (path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  )
  const texts = [...new Set(folders)].toSorted().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
    const [file] = globSync(`${folder}/{LICENSE,LICENCE,license,License}*`)
    const text = file === undefined ? `License: ${license}` : readFileSync(file, 'utf8').trim()
    return `${name} ${version}\n\n${text}\n`
  })
  return texts.join(`\n${'-'.repeat(72)}\n\n`)
}

/** The Node of the repository, which the package installs for itself where a user's is too old. */
function nodePackages(): object {
  const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'))
  const { optionalDependencies } = packages.runtime
  return Object.fromEntries(
    Object.keys(optionalDependencies).map((name) => {
      const { version, integrity } = packages[`node_modules/${name}`]
      return [name, { version, integrity }]
    }),
  )
}
