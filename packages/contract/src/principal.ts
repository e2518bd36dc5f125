declare const tenantBrand: unique symbol

/**
 * The customer whose records a request may see. Another string does not compile in its place.
 * `oauth/` calls `asTenant` for the client of a checked token, and the operator’s own reads for the
 * customer that they name.
 */
export type Tenant = string & { readonly [tenantBrand]: true }

export const asTenant = (customerId: string): Tenant => customerId as Tenant

/** The caller of a customer's operation, from a checked token and the table of clients. */
export type Principal = {
  readonly clientId: string
  readonly tenant: Tenant
  readonly scopes: ReadonlySet<string>
}

/** A person who signed in at a trusted issuer. */
export type Person = { readonly issuer: string; readonly subject: string }

/** A client of the operator, or a person. It has no tenant and never reads through `/v2`. */
export type OperatorPrincipal = {
  readonly clientId: string
  readonly tenant: null
  /** The one customer whose records it may read and write; null for every customer. */
  readonly boundTo: string | null
  /** Who it is, unless it is a program. */
  readonly person?: Person
  readonly scopes: ReadonlySet<string>
}

export type Caller = Principal | OperatorPrincipal
