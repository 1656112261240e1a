// An app needs to import only Latchkey: it exports the vendors and the values of its API.
@_exported public import LatchkeyCore
@_exported public import LatchkeyTransport
@_exported public import LatchkeyVendors
