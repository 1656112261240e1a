// An app imports Latchkey alone: the vendors and the values that its API speaks come along.
@_exported public import LatchkeyCore
@_exported public import LatchkeyTransport
@_exported public import LatchkeyVendors
