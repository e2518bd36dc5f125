import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/**
 * Builds the image of the Containerfile from the files that it copies, and nothing else of the
 * checkout: Node as npm has installed it, and the package as npm publishes it.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const { values: options } = parseArgs({
  options: {
    /** A packed package. Without it, npm packs one. */
    package: { type: 'string' },
    tag: { type: 'string', default: 'bursar' },
    /** `docker` and `podman` take the same words. */
    builder: { type: 'string', default: 'buildah' },
    /** An image with the files of Debian, if the Containerfile's cannot be pulled. */
    debian: { type: 'string' },
  },
})
const { tag, builder, debian } = options

const files = globSync('node_modules/node-linux-*/{bin/node,LICENSE}', { cwd: root })
if (files.length === 0) {
  console.error(
    'There is no Node for Linux in node_modules. Run `npm ci` on Linux, and build there.',
  )
  process.exit(1)
}
const context = mkdtempSync(join(tmpdir(), 'bursar-image-'))
try {
  for (const file of [...files, 'Containerfile', 'tools/image/collect-files.sh']) {
    mkdirSync(dirname(join(context, file)), { recursive: true })
    copyFileSync(join(root, file), join(context, file))
  }
  if (options.package === undefined) run('npm', ['pack', '--silent', '--pack-destination', context])
  else copyFileSync(options.package, join(context, basename(options.package)))
  const base = debian === undefined ? [] : ['--build-arg', `DEBIAN=${debian}`]
  // The other format, OCI, has no health check.
  const format = builder === 'docker' ? [] : ['--format', 'docker']
  const file = ['--file', join(context, 'Containerfile')]
  run(builder, ['build', ...format, ...base, '--tag', tag, ...file, context])
} finally {
  rmSync(context, { recursive: true, force: true })
}

function run(command: string, words: readonly string[]): void {
  execFileSync(command, words, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
}
