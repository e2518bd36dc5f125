import { Type } from 'typebox'
import { described, enumOf, text, uuid } from '../../fields.ts'
import { about, timestampMember } from '../../members.ts'
import { type Declaration, type Operation, operation } from '../../operation.ts'
import { recordKinds } from '../../resources/catalogue.ts'

/** Declares a call by which tests control a sandbox. A mistyped filter would change too much. */
export const control = (declaration: Declaration): Operation =>
  operation({ ...declaration, closed: true })

/** Members that several calls of the sandbox have. */
export const customerField = described(text, 'The customer, as its creation has answered it.')

export const customerMember = about('The customer.', Type.String())

export const momentMember = (description: string) => about(description, timestampMember)

/** A kind of record in a path, as the command line spells it. */
export const kindField = described(
  enumOf(recordKinds),
  'The kind of record, as `bursar import` spells it.',
)

export const snapshotField = described(uuid, 'The snapshot.')
