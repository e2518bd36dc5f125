import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { documents } from '../../../../test/support/check-answers.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import {
  type Document,
  type DocumentedOperation,
  examplesIn,
  type Schema,
} from '../../../../test/support/documented.ts'
import { fixtureId, recordExamples } from '../../../../test/support/record-examples.ts'
import { customerApi, openApiDocument } from '../../src/documents/openapi.ts'
import recorded from '../../src/documents/openapi-examples.json' with { type: 'json' }

/** The examples of the document: complete, valid, and what the sandbox answers. */

const document = openApiDocument(customerApi, 'http://127.0.0.1:8080') as Document
const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema({ $id: 'document', $defs: renamed(document.components.schemas) })

/** The schemas with references to `document`. */
function renamed(schema: object): object {
  const text = JSON.stringify(schema)
  return JSON.parse(text.replaceAll('#/components/schemas/', 'document#/$defs/'))
}

const faultsOf = (schema: Schema, value: unknown): unknown => {
  const validate = ajv.compile(renamed(schema))
  return validate(value) ? [] : validate.errors
}

const service = describeService()

test('the examples are what the sandbox answers', async () => {
  const hint = 'run `node test/support/record-examples.ts --write`, then `npm run openapi`'
  assert.deepEqual(JSON.parse(JSON.stringify(await recordExamples())), recorded, hint)
})

for (const { path, method, operation } of documented) {
  describe(operation.operationId, () => {
    test('has a valid example of every parameter, body, answer and problem', () => {
      for (const { name, schema, example } of operation.parameters) {
        // The API page sends every example, and no fixed time is known in every store.
        if (name === 'as_of') {
          assert.equal(example, undefined)
          continue
        }
        assert.notEqual(example, undefined, name)
        assert.deepEqual(faultsOf(schema, example), [], name)
      }
      for (const [place, part] of [
        ['request', operation.requestBody] as const,
        ...Object.entries(operation.responses).filter(([status]) => status !== '304'),
      ]) {
        if (part === undefined) continue
        const [content] = Object.values(part.content ?? {})
        const examples = examplesIn(document, content)
        assert.ok(content !== undefined && examples.length > 0, `${place} has no example`)
        for (const [name, { summary, value }] of examples) {
          assert.notEqual(summary, '')
          assert.deepEqual(faultsOf(content.schema, value), [], `${place}: ${name}`)
        }
      }
    })

    test('has an example of every problem type that it declares', () => {
      for (const [status, response] of Object.entries(operation.responses)) {
        const types: readonly string[] =
          (response as { readonly 'x-problem-types'?: readonly string[] })['x-problem-types'] ?? []
        const [content] = Object.values(response.content ?? {})
        const shown = examplesIn(document, content).map(
          ([, { value }]) => (value as { readonly type?: string }).type,
        )
        assert.deepEqual(
          types.filter((type) => !shown.includes(type)),
          [],
          status,
        )
      }
    })

    // The ids and times of events differ from store to store: the next test is theirs.
    if (operation.operationId.endsWith('Event') || operation.operationId.endsWith('Events')) return

    test('answers a record to the examples of all parameters at once', async () => {
      const query = new URLSearchParams()
      let filled = path
      for (const { name, in: place, example } of operation.parameters) {
        if (place === 'path') filled = filled.replace(`{${name}}`, String(example))
        else if (name === 'as_of') query.append(name, new Date().toISOString())
        else for (const value of [example].flat()) query.append(name, String(value))
      }
      const [[, body] = []] = examplesIn(
        document,
        operation.requestBody?.content['application/json'],
      )
      const answer = await service.call(`${filled}?${query}`, {
        method: method.toUpperCase(),
        ...(body !== undefined && { body: JSON.stringify(body.value) }),
      })
      assert.equal(answer.status, 200, answer.text)
      const list = Object.values(answer.body).find(Array.isArray)
      const fixtures = [answer.body, ...(list ?? [])].flatMap(({ id }) => id ?? [])
      assert.equal(fixtures.length, 1)
      if (method === 'get') assert.match(fixtures[0], fixtureId)
    })
  })
}

test('the examples of the events have the form of each event of the sandbox', async () => {
  const { parameters } = recorded.listEvents
  const query = `type=${parameters.type}&limit=${parameters.limit}&order=${parameters.order}&wait=0`
  const { status, body } = await service.call(`/v2/events?${query}`)
  assert.deepEqual([status, body.items.length], [200, parameters.limit])
  const shown = recorded.listEvents.answers[200]['first-page'].value.items
  const form = ({ object, ...event }: Readonly<Record<string, unknown>>) => [
    Object.keys(event),
    Object.keys(Object(object)),
    event.type,
  ]
  for (const event of body.items) {
    assert.deepEqual(form(event), form(shown[0] ?? {}))
    const read = await service.call(`/v2/events/${event.id}`)
    assert.deepEqual([read.status, read.body], [200, event])
  }
})

test('a body with amount or with total is valid, also for a tool that ignores unlisted requirements', () => {
  const operation = document.paths['/v2/transfer/fees/crypto-withdrawal']?.post
  const content = operation?.requestBody?.content['application/json']
  const { schema } = content ?? {}
  assert.ok(schema !== undefined)
  const [byAmount, byTotal] = examplesIn(document, content).map(
    ([, { value }]) => value,
  ) as object[]
  const { amount: _, ...neither } = byAmount as { amount: string }
  for (const body of [byAmount, byTotal]) assert.deepEqual(faultsOf(schema, body), [])
  for (const body of [{ ...byAmount, ...byTotal }, neither]) {
    assert.notDeepEqual(faultsOf(schema, body), [])
  }
  // Prism drops a requirement that the same schema does not list among its properties.
  for (const { required = [], properties = {} } of Object.values(document.components.schemas)) {
    assert.deepEqual(
      required.filter((name) => !(name in properties)),
      [],
    )
  }
})

test('every example of the operator’s API and of the sandbox is valid', () => {
  for (const api of [documents.ingest, documents.sandbox]) {
    const validator = new Ajv2020({ strict: true, strictTypes: false, allErrors: true })
    addFormats.default(validator)
    validator.addSchema({ $id: 'document', $defs: renamed(api.components.schemas) })
    for (const { operationId, requestBody, responses } of Object.values(api.paths).flatMap(
      Object.values<DocumentedOperation>,
    )) {
      for (const [status, part] of Object.entries({ ...responses, body: requestBody })) {
        const [content] = Object.values(part?.content ?? {})
        if (content === undefined) continue
        const examples = examplesIn(api, content)
        // These depend on what an operation finds; not every one has a recorded answer.
        const isFound = ['404', '409', '410'].includes(status)
        if (!isFound) assert.ok(examples.length > 0, `${operationId} ${status} has no example`)
        const validate = validator.compile(renamed(content.schema))
        for (const [name, { value }] of examples) {
          assert.ok(
            validate(value),
            `${operationId} ${status} ${name}: ${JSON.stringify(validate.errors)}`,
          )
        }
      }
    }
  }
})
