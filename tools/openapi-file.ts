import { readFileSync, writeFileSync } from 'node:fs'
import {
  customerApi,
  ingestApi,
  openApiDocument,
  sandboxApi,
} from '../packages/server/src/documents/openapi.ts'

/**
 * Checks that `openapi.json`, `openapi-ingest.json` and `openapi-sandbox.json` equal the documents
 * that the service serves at its default address. `--write` replaces the files.
 */
const url = 'http://127.0.0.1:8080'
const documents = {
  'openapi.json': openApiDocument(customerApi, url),
  'openapi-ingest.json': openApiDocument(ingestApi, url),
  'openapi-sandbox.json': openApiDocument(sandboxApi, url),
}

for (const [name, document] of Object.entries(documents)) {
  const path = new URL(`../${name}`, import.meta.url)
  const text = `${JSON.stringify(document, null, 2)}\n`
  if (process.argv.includes('--write')) {
    writeFileSync(path, text)
  } else if (readFileSync(path, 'utf8') !== text) {
    process.stderr.write(`${name} differs from the declarations; run \`npm run openapi\`.\n`)
    process.exitCode = 1
  }
}
