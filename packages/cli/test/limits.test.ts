import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { limitNamed } from '@bursar/base'
import { patientLimits } from '../../../test/support/patient.ts'

test('every deadline that tests prolong is a limit of the program', async () => {
  for (const file of globSync('packages/*/src/**/*.ts')) {
    if (!readFileSync(file, 'utf8').includes(' = limitsOf(')) continue
    await import(pathToFileURL(join(process.cwd(), file)).href)
  }
  for (const [name, value] of Object.entries(patientLimits)) assert.equal(limitNamed(name), value)
})
