import assert from 'node:assert/strict'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/support/harness.ts'
import {
  askKept,
  keptEnv,
  keptFiles,
  keptFolder,
  readKept,
} from '../../../test/support/kept-store.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'
import { addressesOf, openTestDatabase, testStore } from '../../../test/support/test-database.ts'
import { withPrimary } from '../../postgres/src/cluster/with-primary.ts'

/** A copy of a kept store: how a server opens it, and the URL by which it is migrated. */
type Copy = { readonly env: Readonly<Record<string, string>>; readonly migratedBy: string }

function copyFiles(version: string, context: TestContext): Copy {
  const folder = temporaryFolder()
  context.after(() => rmSync(folder, { recursive: true }))
  for (const name of keptFiles.sqlite) {
    writeFileSync(join(folder, name), readKept(version, name), { mode: 0o600 })
  }
  const url = `sqlite:${join(folder, keptFiles.sqlite[0])}`
  return { env: { ...keptEnv, DATABASE_URL: url }, migratedBy: url }
}

async function copyDatabase(version: string, context: TestContext): Promise<Copy> {
  const database = await openTestDatabase()
  context.after(database.drop)
  await database.ask('drop schema bursar, bursar_audit cascade')
  const dump = readKept(version, keptFiles.postgres[0]).toString()
  await withPrimary(addressesOf(database.ownerUrl), (owner) => owner.execute(dump))
  const { url, operatorUrl, ownerUrl } = database
  const env = { ...keptEnv, DATABASE_URL: url, OPERATOR_DATABASE_URL: operatorUrl }
  return { env, migratedBy: ownerUrl }
}

for (const version of readdirSync(keptFolder)) {
  test(`a store of ${version} is migrated, and answers what that version answered`, async (t) => {
    const copy = await (testStore === 'postgres' ? copyDatabase : copyFiles)(version, t)
    const migrated = await runBursar(copy.migratedBy, ['migrate', '--check'], '', keptEnv)
    assert.match(migrated.out, /^up to date; .*; no integrity faults in 7 records\n$/, migrated.err)
    const answers = JSON.parse(readKept(version, 'answers.json').toString())[testStore]
    assert.deepEqual(await askKept(copy.env, Object.keys(answers)), answers)
  })
}
