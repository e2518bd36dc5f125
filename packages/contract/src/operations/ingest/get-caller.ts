import { Type } from 'typebox'
import { about } from '../../members.ts'
import { operation } from '../../operation.ts'

export const getCaller = operation({
  id: 'getCaller',
  title: 'Read what the caller may do',
  summary: 'Returns what the caller may do, and for which customer.',
  tag: 'Callers',
  method: 'GET',
  path: '/ingest/v1/caller',
  scope: null,
  view: {
    name: 'Caller',
    schema: Type.Object(
      {
        customer_id: Type.Optional(
          about(
            'The customer that the caller is bound to; absent for every customer.',
            Type.String(),
          ),
        ),
        subject: Type.Optional(
          about('The person at the issuer; absent for a program.', Type.String()),
        ),
        scopes: about('What the caller may do.', Type.Array(Type.String())),
      },
      { description: 'The caller of a request.' },
    ),
  },
})
