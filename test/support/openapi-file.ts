import { readFileSync, writeFileSync } from 'node:fs'
import { openApiDocument } from '../../src/http/openapi.ts'
import { operations } from '../../src/operations/index.ts'
import { version } from '../../src/program.ts'

/**
 * `openapi.json` is the document as it is served at the default address. Without `--write` this only says whether the
 * checked-in file is that document.
 */
const path = new URL('../../openapi.json', import.meta.url)
const document = `${JSON.stringify(openApiDocument(operations, version, 'http://127.0.0.1:8080'), null, 2)}\n`

if (process.argv.includes('--write')) {
  writeFileSync(path, document)
} else if (readFileSync(path, 'utf8') !== document) {
  process.stderr.write('openapi.json is not what src/operations says; run `npm run openapi`.\n')
  process.exitCode = 1
}
