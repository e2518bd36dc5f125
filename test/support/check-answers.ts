import { readFileSync } from 'node:fs'
import { type CheckedAnswer, type Document, openDocumentChecker } from './documented.ts'

const read = (name: string): Document =>
  JSON.parse(readFileSync(new URL(`../../${name}.json`, import.meta.url), 'utf8'))

/** The documents of the three APIs, as `npm run openapi` has written them. */
export const documents = {
  customers: read('openapi'),
  ingest: read('openapi-ingest'),
  sandbox: read('openapi-sandbox'),
}

const documented = Object.values(documents).flatMap((document) => {
  const check = openDocumentChecker(document)
  return Object.entries(document.paths).flatMap(([path, methods]) => {
    const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]*')}$`)
    return Object.entries(methods).map(([method, operation]) => ({
      pattern,
      method: method.toUpperCase(),
      operation,
      check,
      /** A path that is written out goes before one with a parameter. */
      fixedLength: path.replace(/\{\w+\}/g, '').length,
    }))
  })
})
documented.sort((one, other) => other.fixedLength - one.fixedLength)

/** A fault that a test has created is an answer of a proxy, and no answer of the API. */
const injected = 'a fault that POST /sandbox/faults has asked for'

/** A server may lack an API, and then its paths and methods. */
const unknownPath = '"detail":"there is nothing at this path'
const wrongMethod = '"detail":"the method must be'

/**
 * Checks the answer of an operation against its document: status, headers and body. Other paths
 * and methods are no operation's, and have no document.
 */
export function checkAnswer(method: string, url: string, answer: CheckedAnswer): void {
  const path = pathOf(url)
  const wanted = method === 'HEAD' ? 'GET' : method
  const found = documented.find((one) => one.method === wanted && one.pattern.test(path))
  const isOther = [injected, unknownPath, wrongMethod].some((text) => answer.text.includes(text))
  if (found === undefined || isOther) return
  found.check(found.operation, path, answer)
}

const pathOf = (url: string): string =>
  url.replace(/^https?:\/\/[^/?#]*/, '').replace(/[?#].*$/s, '')
