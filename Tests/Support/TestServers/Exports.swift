// What a test of a server handles: replies, JSON, folders and clocks, and stores that go away.
@_exported public import LatchkeyCore
@_exported public import LatchkeyForms
@_exported public import LatchkeyTesting
@_exported public import SwitchedStores
