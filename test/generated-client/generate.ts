import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openApiDocument } from '../../src/http/documents/openapi.ts'
import { operations } from '../../src/operations/index.ts'

/** The checked-in types; `node test/generated-client/generate.ts --write` replaces them. */
export const schemaPath: string = new URL('schema.d.ts', import.meta.url).pathname

/** Generates the types from the document with openapi-typescript. */
export async function generateTypes(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bursar-types-'))
  try {
    const [source, target] = [join(folder, 'openapi.json'), join(folder, 'schema.d.ts')]
    const document = openApiDocument(operations, '0', 'http://127.0.0.1:8080')
    writeFileSync(source, JSON.stringify(document))
    const cli = new URL('node_modules/openapi-typescript/bin/cli.js', import.meta.url).pathname
    await promisify(execFile)(process.execPath, [cli, source, '--output', target])
    return readFileSync(target, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv.includes('--write')) writeFileSync(schemaPath, await generateTypes())
