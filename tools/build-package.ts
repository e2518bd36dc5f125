import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'esbuild'

/**
 * Builds what npm publishes: bundled JavaScript with declarations, because Node strips no types
 * under node_modules and takes half of a second for a thousand small modules. The files that the
 * program reads beside its code are copied. npm runs it at `pack`.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const src = `${root}src/`
const dist = `${root}dist`

/** A bundle lies in the folder itself, and still finds what lay beside each module. */
const filesBesideModules: Plugin = {
  name: 'files-beside-modules',
  setup: ({ onLoad }) =>
    onLoad({ filter: /src\/.*\.ts$/ }, ({ path }) => {
      const own = JSON.stringify(`./${relative(src, path)}`)
      const url = `new URL(${own}, import.meta.url)`
      return {
        contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', url),
        loader: 'ts',
      }
    }),
}

/** The program is made of modules, so CommonJS starts a sandbox in a separate process. */
const processForHere: Plugin = {
  name: 'process-for-here',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /\/sandbox-here\.ts$/ }, () => ({ path: 'here', namespace: 'testing' }))
    onLoad({ filter: /.*/, namespace: 'testing' }, () => ({
      contents: "export { startSandboxProcess as startSandboxHere } from './sandbox-process.ts'",
      resolveDir: `${src}testing`,
    }))
  },
}

// The others stay separate packages, so that an installation can replace one with a flaw.
const { dependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
const external = Object.keys(dependencies).filter((name) => name !== 'typebox')

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
for (const name of readdirSync(dist)) {
  if (name !== 'testing') rmSync(`${dist}/${name}`, { recursive: true })
}
cpSync(`${root}node_modules/typebox/license`, `${dist}/typebox.LICENSE`)
cpSync(src, dist, { recursive: true, filter: (path) => !path.endsWith('.ts') })
writeFileSync(`${dist}/own-node.json`, `${JSON.stringify(nodePackages(), null, 2)}\n`)
await build({
  entryPoints: {
    bin: `${src}bin.ts`,
    main: `${src}main.ts`,
    testing: `${src}testing/create-sandbox.ts`,
  },
  outdir: dist,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  external,
  plugins: [filesBesideModules],
  logLevel: 'warning',
})
// Node loads modules from CommonJS, but Jest does not.
await build({
  entryPoints: [`${src}testing/create-sandbox.ts`],
  outfile: `${dist}/testing.cjs`,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  plugins: [processForHere, filesBesideModules],
  define: { 'import.meta.url': 'bundleUrl' },
  banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href" },
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
